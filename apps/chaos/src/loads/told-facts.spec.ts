import type { ReceivedAttempt } from '../test-bed/webhook-receiver';
import { type LoggedFact, compareWithLogs } from './sent-webhooks';

const fact = (seq: number, type = 'run.started', run_id = 'run_1'): LoggedFact => ({
  ...{ id: `evt_${run_id}_${seq}`, seq, type, run_id, iteration: 0, epoch: 1, at: '2026-11-01T00:00:00.000Z' },
  data: { words: 'as in the log' },
});
const attempt = (data: LoggedFact, more: Partial<ReceivedAttempt> = {}): ReceivedAttempt => ({
  ...{ id: data.id, accepted: true, signed: true, body: JSON.stringify({ type: data.type, data }) },
  ...more,
});
const [first, second] = [fact(1), fact(3, 'run.completed')];
const logs = [first, fact(2, 'iteration.started'), second];

describe('what webhooks told', () => {
  it('is in order when each fact came once, or was repeated', () => {
    const attempts = [attempt(first, { accepted: false }), attempt(first), attempt(first), attempt(second)];

    expect(compareWithLogs(attempts, logs)).toEqual({ due: 2, missing: [], invented: [], misplaced: [], differing: 0 });
  });

  it.each([
    ['a fact that was never accepted', [attempt(first), attempt(second, { accepted: false })], { missing: [second] }],
    [
      'other words than those of the log',
      [attempt({ ...first, data: {} }), attempt(second)],
      { invented: { length: 1 } },
    ],
    ['a fact of no log', [attempt(first), attempt(second), attempt(fact(9))], { invented: { length: 1 } }],
    ['a later fact first', [attempt(second), attempt(first)], { misplaced: [attempt(first)] }],
    ['two bodies under one id', [attempt(first), attempt(first, { body: '{"data":{}}' })], { differing: 1 }],
  ])('finds %s', (_what, attempts, found) => {
    expect(compareWithLogs(attempts, logs)).toMatchObject(found);
  });
});
