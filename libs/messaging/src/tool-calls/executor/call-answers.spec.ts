import { RecentAnswers } from './call-answers';

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
