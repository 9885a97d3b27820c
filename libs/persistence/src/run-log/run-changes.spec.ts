import { type NewFact, noUsage } from '@rondo/contract';
import { completed, iterationStarted, started, waits } from '../testing/store-fixture';
import { runChanges } from './run-changes';

const at = '2026-01-01T00:00:00.000Z';
const changesBy = (...facts: NewFact[]) => runChanges(facts, at);

describe('runChanges', () => {
  it('follows a run from its start to its end', () => {
    expect(changesBy(started, iterationStarted(1))).toMatchObject({ status: 'running', startedAt: at, iteration: 1 });
    expect(changesBy(waits)).toMatchObject({ status: 'waiting_input', waiting: { reason: 'ask' }, terminal: false });
    expect(changesBy(completed)).toMatchObject({ status: 'completed', finishReason: 'stop', finishedAt: at });
  });

  it('parks a run that is out of money apart from one that asks a person', () => {
    expect(changesBy({ type: 'run.waiting', iteration: 1, data: { reason: 'budget' } }).status).toBe('waiting_budget');
  });

  it('changes no status by what happens within an iteration', () => {
    expect(changesBy(iterationStarted(3))).toMatchObject({ status: null, iteration: 3, terminal: false });
  });

  it('lets a stop go before every other way to end or park, and before no stop (I7)', () => {
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
