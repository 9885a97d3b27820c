import { setTimeout as sleep } from 'node:timers/promises';
import { IsolationOnDemand, type Isolation } from './isolation';

const limits = { cgroup: 'none', memory: false, processes: false, cpu: false, disk: 'watched' } as const;
const capabilities = {
  isolation: true,
  egressPolicy: true,
  hardDisk: false,
  size: {},
  backgroundSessions: true,
  stdin: true,
  runProcesses: true,
  ports: true,
};

/** The result of a failed trial. */
const failed = (reason: string, advice = 'Install bubblewrap.'): Isolation => ({
  result: {
    ...{ usable: false, reason, advice, capabilities },
    details: { isolation: 'bubblewrap', limits, separateUsers: false },
  },
  remove: () => Promise.resolve(),
});

describe('IsolationOnDemand', () => {
  const of = (trials: readonly (() => Promise<Isolation>)[]) => {
    const logged: [string, unknown][] = [];
    const note = (fields: object, text: string) => void logged.push([text, 'advice' in fields ? fields.advice : '']);
    let tried = 0;
    const prepare = () => trials[Math.min(tried++, trials.length - 1)]?.() ?? Promise.reject(new Error('no trial'));
    const isolation = new IsolationOnDemand({ prepare, probeAgainMs: 20, log: { info: note, warn: note } });
    return { isolation, logged };
  };

  it('logs a failure again when the advice changes, not when only the message does', async () => {
    const trials = [failed('/tmp/1: denied'), failed('/tmp/2: denied'), failed('denied', 'Change the root.')];
    const { isolation, logged } = of(trials.map((trial) => () => Promise.resolve(trial)));

    for (const _ of trials) {
      await isolation.get();
      await sleep(40);
    }

    expect(logged).toEqual([
      ['sandboxes unavailable', 'Install bubblewrap.'],
      ['sandboxes unavailable', 'Change the root.'],
    ]);
  });

  it('repeats a trial that threw, after a pause', async () => {
    const { isolation } = of([() => Promise.reject(new Error('trial threw')), () => Promise.resolve(failed('denied'))]);

    await expect(isolation.get()).rejects.toThrow('trial threw');
    await expect(isolation.get()).rejects.toThrow('trial threw');
    await sleep(40);

    await expect(isolation.get()).resolves.toMatchObject({ result: { reason: 'denied' } });
  });

  it('deletes the files of a trial that is still running when it is closed', async () => {
    let removed = 0;
    const remove = () => Promise.resolve(void (removed += 1));
    const { isolation } = of([() => sleep(20, { ...failed('denied'), remove })]);

    void isolation.get();
    await isolation.close();

    expect(removed).toBe(1);
  });
});
