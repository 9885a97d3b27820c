import { PeriodicTasks } from './periodic-tasks';

describe('PeriodicTasks', () => {
  it('repeat a task that fails, and report each failure', async () => {
    const failures: string[] = [];
    let thirdFailed = () => {};
    const thirdFailure = new Promise<void>((resolve) => (thirdFailed = resolve));
    const work = () => Promise.reject(new Error('away'));
    const tasks = new PeriodicTasks({ heartbeat: { everyMs: 1, work } }, (task) => {
      if (failures.push(task) === 3) thirdFailed();
    });

    tasks.start();
    await thirdFailure;
    await tasks.stop();

    expect(failures).toEqual(['heartbeat', 'heartbeat', 'heartbeat']);
  });

  it('fail the liveness check when an execution never ends', async () => {
    let end = () => {};
    const hanging = () => new Promise<void>((resolve) => (end = resolve));
    const tasks = new PeriodicTasks(
      { heartbeat: { everyMs: 1, work: hanging }, reap: { everyMs: 1, work: () => Promise.resolve() } },
      () => undefined,
    );
    tasks.start();
    await expect(tasks.assertOnTime(10_000)).resolves.toBeUndefined();
    await new Promise((resolve) => setTimeout(resolve, 60));

    await expect(tasks.assertOnTime(30)).rejects.toThrow('stuck: heartbeat');

    const stopped = tasks.stop();
    end();
    await stopped;
  });
});
