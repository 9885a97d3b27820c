import type { Run } from '@rondo/client';
import type { Fact } from '@rondo/test-deployment';
import { type Tree, judgeTree } from './tree-audit';
import { toAnswer, mostTokens } from './trees';

const usage = { input_tokens: 10, cached_tokens: 0, output_tokens: 10, cost_usd: 0 };
const run = (id: string, more: object = {}): Run =>
  ({
    ...{ id, status: 'completed', finish_reason: 'stop', usage, parent_run_id: null, parent_call_id: null },
    ...{ finished_at: '2026-11-01T00:01:00.000Z' },
    ...more,
  }) as Run; // only what the audit reads
const child = (id: string, more: object = {}) =>
  run(id, { parent_run_id: 'run_root', parent_call_id: 'call_1', ...more });

const fact = (type: string, data: object): Fact => ({
  ...{ id: 'evt_1', seq: 1, type, iteration: 1, epoch: 1, at: '2026-11-01T00:00:00.000Z', data },
});
const planned = fact('tool.planned', {
  tool_call: { id: 'call_1', name: 'run_agent', arguments: { agent: 'helper', input: 'tree/a\n…' } },
});
const answered = fact('tool.completed', { tool_call_id: 'call_1', result: { output: toAnswer('tree/a') } });
const failed = fact('tool.failed', { tool_call_id: 'call_1', result: { error: 'stopped' } });

const tree = (runs: readonly Run[], kind: Tree['kind'] = 'plain'): Tree => ({
  kind,
  tag: 'tree',
  rootId: 'run_root',
  runs,
});
const judge = (of: Tree, facts: readonly Fact[]) => judgeTree(of, new Map([['run_root', facts]]));

describe('a tree of runs', () => {
  it('has no flaw when its child has answered once', () => {
    expect(judge(tree([run('run_root'), child('run_a')]), [planned, answered])).toEqual({
      ...{ calls: 1, lost: [], doubled: [], overspent: [], unreached: [] },
    });
  });

  it.each([
    ['no child', [], [planned, answered]],
    ['no answer', [child('run_a')], [planned]],
    ['a child that is not over', [child('run_a', { status: 'running' })], [planned, answered]],
    ['an answer that the child has not given', [child('run_a', { status: 'failed' })], [planned, answered]],
    ['a failure of a child that has answered', [child('run_a')], [planned, failed]],
  ])('has lost something with %s', (_what, children, facts) => {
    expect(judge(tree([run('run_root'), ...children]), facts).lost).toHaveLength(1);
  });

  it('has lost nothing where a stop came before what its child had just said', () => {
    const stopped = tree([run('run_root', { status: 'stopped' }), child('run_a')], 'stopped');

    expect(judge(stopped, [planned, failed]).lost).toEqual([]);
    expect(judge(stopped, [planned]).lost).toHaveLength(1);
  });

  it('has a double with two children or two answers for one call', () => {
    const twins = tree([run('run_root'), child('run_a'), child('run_b')]);

    expect(judge(twins, [planned, answered]).doubled).not.toEqual([]);
    expect(judge(tree([run('run_root'), child('run_a')]), [planned, answered, answered]).doubled).toHaveLength(1);
  });

  it('has spent too much beyond its budget and the replies under way', () => {
    const spent = child('run_a', { usage: { ...usage, input_tokens: mostTokens } });

    expect(judge(tree([run('run_root'), spent], 'budget ends'), [planned, answered]).overspent).toHaveLength(1);
  });

  it('was not reached by a stop where a run ended after its first run, unless the receipt says so', () => {
    const late = child('run_a', { status: 'stopped', finished_at: '2026-11-01T00:02:00.000Z' });
    const stopped = tree([run('run_root', { status: 'stopped' }), late], 'stopped');
    const receipt = fact('run.stopped', { receipt: { child_runs_stopped: [{ run_id: 'run_a', ended_at: null }] } });

    expect(judge(stopped, [planned, failed]).unreached).toHaveLength(1);
    expect(judge(stopped, [planned, failed, receipt]).unreached).toEqual([]);
  });
});
