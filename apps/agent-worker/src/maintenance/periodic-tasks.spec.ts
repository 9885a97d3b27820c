import { PeriodicTasks } from './periodic-tasks';

describe('Rounds', () => {
  it('come round also when they fail, and each failure is told', async () => {
    const failures: string[] = [];
    let thirdFailed = () => {};
    const thirdFailure = new Promise<void>((resolve) => (thirdFailed = resolve));
    const work = () => Promise.reject(new Error('away'));
    const rounds = new PeriodicTasks({ heartbeat: { everyMs: 1, work } }, (round) => {
      if (failures.push(round) === 3) thirdFailed();
    });

    rounds.start();
    await thirdFailure;
    await rounds.stop();

    expect(failures).toEqual(['heartbeat', 'heartbeat', 'heartbeat']);
  });

  it('are no sign of life any more when one of them never ends (R11)', async () => {
    let letGo = () => {};
    const hangs = () => new Promise<void>((resolve) => (letGo = resolve));
    const rounds = new PeriodicTasks(
      { heartbeat: { everyMs: 1, work: hangs }, reap: { everyMs: 1, work: () => Promise.resolve() } },
      () => undefined,
    );
    rounds.start();
    await expect(rounds.comeRound(10_000)).resolves.toBeUndefined();
    await new Promise((resolve) => setTimeout(resolve, 60));

    await expect(rounds.comeRound(30)).rejects.toThrow('stuck: heartbeat');

    const stopped = rounds.stop();
    letGo();
    await stopped;
  });
});
