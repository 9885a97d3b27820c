import { type RunEvent, eventId, runId, threadId } from '@rondo/contract';
import { FactPlausibility } from './fact-plausibility';

const fact = (more: Partial<RunEvent> = {}): RunEvent =>
  ({
    id: eventId.parse('evt_1'),
    v: 1,
    seq: 1,
    type: 'run.started',
    run_id: runId.parse('run_1'),
    thread_id: threadId.parse('thr_1'),
    iteration: 0,
    epoch: 2,
    at: '2030-01-01T00:00:00.000Z',
    data: {},
    ...more,
  }) as RunEvent; // with overrides of its own types

describe('FactPlausibility', () => {
  const past = new FactPlausibility();
  past.note(fact());

  it('allows facts of the same or a later claim', () => {
    expect([fact(), fact({ epoch: 3 })].every((event) => past.allows(event))).toBe(true);
  });

  it.each([
    ['of an earlier claim (I3)', fact({ epoch: 1 })],
    ['of another thread', fact({ thread_id: threadId.parse('thr_2') })],
    ['without an id of ours', fact({ id: 'forged' as RunEvent['id'] })],
  ])('allows no fact %s', (_what, event) => {
    expect(past.allows(event)).toBe(false);
  });

  it('allows any thread before the first fact', () => {
    expect(new FactPlausibility().allows(fact())).toBe(true);
  });
});
