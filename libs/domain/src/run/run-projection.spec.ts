import {
  type NewFact,
  type RecordedFact,
  type RunSettings,
  messageId,
  noUsage,
  runId,
  threadId,
} from '@rondo/contract';
import { freshRun } from '../testing/fresh-run';
import { projectRun, runChanges } from './run-projection';

const started: NewFact = { type: 'run.started', iteration: 0, data: {} };
const iterationStarted = (iteration: number): NewFact => ({
  type: 'iteration.started',
  iteration,
  data: { iteration, message_id: messageId.parse(`msg_${iteration}`) },
});
const waits: NewFact = { type: 'run.waiting', iteration: 1, data: { reason: 'ask' } };
const completed: NewFact = { type: 'run.completed', iteration: 1, data: { finish_reason: 'stop', usage: noUsage } };

const at = '2026-01-01T00:00:00.000Z';
const changesBy = (...facts: NewFact[]) => runChanges(facts, at);

describe('runChanges', () => {
  it('follows a run from its start to its end', () => {
    expect(changesBy(started, iterationStarted(1))).toMatchObject({ status: 'running', startedAt: at, iteration: 1 });
    expect(changesBy({ ...started, data: { tool_set: 'abc' } }).toolSet).toBe('abc');
    expect(changesBy(started).toolSet).toBeNull();
    expect(changesBy(waits)).toMatchObject({ status: 'waiting_input', waiting: { reason: 'ask' }, terminal: false });
    expect(changesBy(completed)).toMatchObject({ status: 'completed', finishReason: 'stop', finishedAt: at });
  });

  it('distinguishes a run that waits for budget from one that waits for a person', () => {
    expect(changesBy({ type: 'run.waiting', iteration: 1, data: { reason: 'budget' } }).status).toBe('waiting_budget');
  });

  it('does not change the status within an iteration', () => {
    expect(changesBy(iterationStarted(3))).toMatchObject({ status: null, iteration: 3, terminal: false });
  });

  it('refuses every other way to end or park after a stop request (I7)', () => {
    const failed: NewFact = {
      type: 'run.failed',
      iteration: 1,
      data: { error: { code: 'x', message: 'y' }, usage: noUsage },
    };
    const unverified = { model_aborted_at: null, tools_stopped: [], tokens_after_stop: 0, sandbox_verified_at: null };
    const receipt = { requested_at: at, ...unverified };
    const stopped: NewFact = { type: 'run.stopped', iteration: 1, data: { reason: null, receipt, usage: noUsage } };

    expect([completed, failed, waits, stopped].map((fact) => changesBy(fact).yieldsToStop)).toEqual([
      true,
      true,
      true,
      false,
    ]);
  });
});

describe('projectRun', () => {
  const run = freshRun({
    id: runId.parse('run_1'),
    threadId: threadId.parse('thr_1'),
    settings: {} as RunSettings,
    now: at,
  });
  const recorded = (fact: NewFact, seq: number) => ({ ...fact, seq, at }) as RecordedFact; // what the projection reads
  const usage = { input_tokens: 3, cached_tokens: 1, output_tokens: 2, cost_usd: 0.5 };
  const used = { type: 'usage.recorded', iteration: 1, data: { model: 'demo/coder', estimated: false, ...usage } };

  it('gives the run the columns that the append statement gives the row', () => {
    const facts = [started, used as NewFact, used as NewFact, completed].map((fact, index) =>
      recorded(fact, index + 1),
    );
    expect(projectRun(run, facts)).toMatchObject({
      last_seq: 4,
      iteration: 1,
      status: 'completed',
      finish_reason: 'stop',
      usage: { input_tokens: 6, cached_tokens: 2, output_tokens: 4, cost_usd: 1 },
      started_at: at,
      finished_at: at,
    });
  });

  it('keeps a run that was told to stop in stopping until its terminal fact (I7)', () => {
    const stopping = { ...run, status: 'stopping' as const, stop_requested_at: at };
    expect(projectRun(stopping, [recorded(started, 1)]).status).toBe('stopping');
    expect(projectRun(stopping, [recorded(completed, 2)]).status).toBe('completed');
  });

  it('sets what a run waits for and clears it when the run resumes', () => {
    const waiting = projectRun(run, [recorded(waits, 1)]);
    expect(waiting).toMatchObject({ status: 'waiting_input', waiting: { reason: 'ask' } });
    const resumed = recorded({ type: 'run.resumed', iteration: 1, data: { reason: 'input' } }, 2);
    expect(projectRun(waiting, [resumed])).toMatchObject({ status: 'queued', waiting: null });
  });
});
