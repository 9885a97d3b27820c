import { setTimeout as sleep } from 'node:timers/promises';
import { IsolationOnDemand } from './isolation-on-demand';
import type { Isolation } from './prepare-isolation';

const limits = { cgroup: 'none', memory: false, processes: false, cpu: false, disk: 'watched' } as const;

/** What a trial comes to that fails, in words of its own. */
const failed = (reason: string, advice = 'Install bubblewrap.'): Isolation => ({
  result: { usable: false, isolation: 'bubblewrap', limits, separateUsers: false, reason, advice },
  remove: () => Promise.resolve(),
});

describe('IsolationOnDemand', () => {
  const of = (trials: readonly (() => Promise<Isolation>)[]) => {
    const said: [string, unknown][] = [];
    const note = (fields: object, text: string) => void said.push([text, 'advice' in fields ? fields.advice : '']);
    let tried = 0;
    const prepare = () => trials[Math.min(tried++, trials.length - 1)]?.() ?? Promise.reject(new Error('no trial'));
    const isolation = new IsolationOnDemand({ prepare, probeAgainMs: 20, log: { info: note, warn: note } });
    return { isolation, said };
  };

  it('says again that there is none when something else is to be done about it, not when the words differ', async () => {
    const trials = [failed('/tmp/1: denied'), failed('/tmp/2: denied'), failed('denied', 'Change the root.')];
    const { isolation, said } = of(trials.map((trial) => () => Promise.resolve(trial)));

    for (const _ of trials) {
      await isolation.get();
      await sleep(40);
    }

    expect(said).toEqual([
      ['sandboxes unavailable', 'Install bubblewrap.'],
      ['sandboxes unavailable', 'Change the root.'],
    ]);
  });

  it('tries again also where a trial broke off, and not at once', async () => {
    const { isolation } = of([() => Promise.reject(new Error('broken off')), () => Promise.resolve(failed('denied'))]);

    await expect(isolation.get()).rejects.toThrow('broken off');
    await expect(isolation.get()).rejects.toThrow('broken off');
    await sleep(40);

    await expect(isolation.get()).resolves.toMatchObject({ result: { reason: 'denied' } });
  });

  it('takes away what a trial has put on the host that is still under way when it is closed', async () => {
    let removed = 0;
    const remove = () => Promise.resolve(void (removed += 1));
    const { isolation } = of([() => sleep(20, { ...failed('denied'), remove })]);

    void isolation.get();
    await isolation.close();

    expect(removed).toBe(1);
  });
});
