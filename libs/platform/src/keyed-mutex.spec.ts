import { KeyedMutex } from './keyed-mutex';

function gate() {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { open, opened };
}

describe('KeyedMutex', () => {
  it('runs work with the same key in order, one after the other', async () => {
    const mutex = new KeyedMutex();
    const { open, opened } = gate();
    const log: string[] = [];
    const work = (name: string) => async () => {
      log.push(`${name} began`);
      await opened;
      log.push(`${name} ended`);
    };

    const both = [mutex.run('a', work('first')), mutex.run('a', work('second'))];
    open();
    await Promise.all(both);

    expect(log).toEqual(['first began', 'first ended', 'second began', 'second ended']);
  });

  it('runs work with different keys at the same time', async () => {
    const mutex = new KeyedMutex();
    const { open, opened } = gate();

    const slow = mutex.run('a', () => opened);
    await expect(mutex.run('b', async () => 'done')).resolves.toBe('done');
    open();
    await slow;
  });

  it('continues after work that failed', async () => {
    const mutex = new KeyedMutex();

    const failing = mutex.run('a', () => Promise.reject(new Error('broken')));
    const next = mutex.run('a', async () => 'done');

    await expect(failing).rejects.toThrow('broken');
    await expect(next).resolves.toBe('done');
  });

  it('rejects an aborted waiter at once and keeps the order of the others', async () => {
    const mutex = new KeyedMutex();
    const { open, opened } = gate();
    const aborted = new AbortController();
    const log: string[] = [];

    const first = mutex.run('a', async () => {
      await opened;
      log.push('first');
    });
    const second = mutex.run('a', async () => log.push('second'), aborted.signal);
    const third = mutex.run('a', async () => log.push('third'));
    aborted.abort(new Error('stopped'));

    await expect(second).rejects.toThrow('stopped');
    open();
    await Promise.all([first, third]);
    expect(log).toEqual(['first', 'third']);
  });
});
