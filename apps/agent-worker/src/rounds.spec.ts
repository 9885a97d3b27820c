import { Rounds } from './rounds';

describe('Rounds', () => {
  it('come round also when they fail, and each failure is told', async () => {
    const failures: string[] = [];
    let beats = 0;
    const done = new Promise<void>((resolve) => {
      const work = () => {
        beats += 1;
        if (beats === 3) resolve();
        return Promise.reject(new Error('away'));
      };
      const rounds = new Rounds({ heartbeat: { everyMs: 1, work } }, (round) => failures.push(round));
      rounds.start();
      void new Promise<void>((ready) => setTimeout(ready, 50)).then(() => rounds.stop());
    });
    await done;

    expect(failures.slice(0, 2)).toEqual(['heartbeat', 'heartbeat']);
  });

  it('are no sign of life any more when one of them never ends (R11)', async () => {
    let letGo = () => {};
    const hangs = () => new Promise<void>((resolve) => (letGo = resolve));
    const rounds = new Rounds(
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
