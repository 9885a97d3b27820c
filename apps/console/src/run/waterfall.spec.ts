import type { Fact } from '@rondo/client';
import { findEnd, sumKinds, toSpans } from './waterfall';

const start = Date.parse('2026-01-01T00:00:00.000Z');
let seq = 0;
const fact = (ms: number, type: string, data: unknown = {}) => {
  seq += 1;
  const at = new Date(start + ms).toISOString();
  return {
    id: `evt_${seq}`,
    v: 1,
    seq,
    run_id: 'run_1',
    thread_id: 'thr_1',
    epoch: 1,
    iteration: 1,
    at,
    type,
    data,
  } as Fact;
};
const used = (duration_ms: number, more = {}) => ({
  ...{ model: 'demo/coder', input_tokens: 10, output_tokens: 2, duration_ms },
  ...more,
});
const call = (id: string, name = 'execute_command') => ({ tool_call_id: id, name });
const brief = (facts: readonly Fact[]) =>
  toSpans(facts).map(({ kind, name, from, to, note }) => [kind, name, from, to, note]);

const begun = [fact(0, 'run.created'), fact(40, 'run.started'), fact(50, 'iteration.started')];

describe('the parts of the time of a run', () => {
  it('are the queue, model calls as they were measured, tools and waits', () => {
    const facts = [
      ...begun,
      fact(300, 'usage.recorded', used(200)),
      fact(300, 'message.created', { message: { type: 'assistant' } }),
      fact(310, 'tool.started', call('a')),
      fact(320, 'tool.started', call('b', 'ask')),
      fact(400, 'tool.completed', call('a')),
      fact(410, 'run.waiting', { reason: 'ask' }),
      fact(900, 'run.resumed', { reason: 'input' }),
      fact(910, 'tool.failed', call('b', 'ask')),
      fact(950, 'run.completed', {}),
    ];

    expect(brief(facts)).toEqual([
      ['queue', 'Queued', 0, 40, null],
      ['model', 'demo/coder', 50, 250, '10 tokens in, 2 out'],
      ['tool', 'execute_command', 310, 400, null],
      ['tool', 'ask', 320, 910, 'failed'],
      ['wait', 'Waits for an answer', 410, 900, null],
    ]);
    expect(Object.fromEntries(sumKinds(toSpans(facts), 950))).toEqual({ queue: 40, model: 200, tool: 680, wait: 490 });
  });

  it('go on while they are open, and end with the run', () => {
    const calling = [...begun, fact(60, 'tool.started', call('a'))];
    expect(brief(calling).slice(1)).toEqual([
      ['model', 'Model', 50, null, null],
      ['tool', 'execute_command', 60, null, null],
    ]);
    expect(findEnd(toSpans(calling), 500)).toBe(500);
    expect(brief([...calling, fact(80, 'run.stopped')]).slice(1)).toEqual([
      ['model', 'Model', 50, 80, null],
      ['tool', 'execute_command', 60, 80, null],
    ]);
  });

  it('say why a run ended that never began', () => {
    expect(brief([fact(0, 'run.created'), fact(90, 'run.stopped', { reason: 'read by run_2' })])).toEqual([
      ['queue', 'Queued', 0, 90, 'read by run_2'],
    ]);
  });

  it('show attempts of a model, and work that began again', () => {
    const retried = { attempt: 1, delay_ms: 30, error: { code: 'rate_limit', message: 'Slow down.' } };
    const facts = [
      ...begun,
      fact(100, 'model.retried', retried),
      fact(200, 'usage.recorded', used(70, { error: { code: 'x', message: 'Broke off.' } })),
      fact(210, 'tool.started', call('a')),
      fact(250, 'iteration.restarted', { iteration: 1, message_id: 'msg_1', withdrawn_stream_ids: [] }),
      fact(255, 'iteration.restarted', { iteration: 1, message_id: 'msg_2', withdrawn_stream_ids: [], retry: retried }),
      fact(260, 'context.compaction_started'),
      fact(300, 'context.compaction_failed'),
    ];

    expect(brief(facts).slice(1)).toEqual([
      ['model', 'Model', 50, 100, 'Slow down.'],
      ['wait', 'Asks the model again', 100, 130, 'Slow down.'],
      ['model', 'demo/coder', 130, 200, 'Broke off. · 10 tokens in, 2 out'],
      ['tool', 'execute_command', 210, 250, 'begun again'],
      ['model', 'Model', 250, 255, 'begun again'],
      ['wait', 'Asks the model again', 255, 285, 'Slow down.'],
      ['summary', 'Summary of the context', 260, 300, 'failed'],
      ['model', 'Model', 285, null, null],
    ]);
  });
});
