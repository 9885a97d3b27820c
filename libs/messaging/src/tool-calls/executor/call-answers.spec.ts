import type { CallRecords } from '../call-records';
import { type ToolReply, dispatchedCall } from '../wire-format';
import { CallAnswers, RecentAnswers } from './call-answers';

const createKey = (call: number, attempt = 1) => ({ runId: 'run_1', callId: `call_${call}`, attempt });

describe('RecentAnswers', () => {
  it('finds the answer of an attempt, and not that of another attempt', () => {
    const recent = new RecentAnswers();
    recent.keep(createKey(1), '"one"');

    expect(recent.find(createKey(1))).toBe('"one"');
    expect(recent.find(createKey(1, 2))).toBeUndefined();
  });

  it('drops the oldest answers beyond four million characters', () => {
    const recent = new RecentAnswers();
    const million = 'x'.repeat(1_000_000);
    for (let call = 1; call <= 6; call += 1) recent.keep(createKey(call), million);
    recent.keep(createKey(6), million);

    expect([1, 2, 3, 4, 5, 6].filter((call) => recent.find(createKey(call)) !== undefined)).toEqual([3, 4, 5, 6]);
  });
});

describe('CallAnswers', () => {
  const result = { success: true, output: 'done' };
  const ended: ToolReply = { how: 'answered', result, duration_ms: 1 };
  const asking: ToolReply = { ...ended, calls: [{ name: 'read_file', arguments: {}, position: 0, digest: 'x' }] };
  const call = dispatchedCall.parse({
    ...{ call_id: 'call_1', run_id: 'run_1', thread_id: 'thr_1', name: 'run_program', arguments: {} },
    ...{ effect_class: 'idempotent', attempt: 3, timeout_ms: 1_000 },
  });
  const findEarlier = (...replies: readonly ToolReply[]) => {
    const records = { reply: ({ attempt }: { attempt: number }) => Promise.resolve(replies[attempt - 1]) };
    return new CallAnswers(records as unknown as CallRecords).earlierAnswer(call);
  };

  it('gives the result of an earlier attempt again, and what a program has asked for only once', async () => {
    expect(await findEarlier(ended)).toBe(ended);
    expect(await findEarlier(asking, ended)).toBe(ended);
    expect(await findEarlier(asking, asking)).toBeUndefined();
    expect(await findEarlier(ended, asking)).toBeUndefined();
  });
});
