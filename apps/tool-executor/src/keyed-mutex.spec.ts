import { KeyedMutex } from './keyed-mutex';

const untouched = new AbortController().signal;

function gate() {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { open, opened };
}

describe('Lanes', () => {
  it('runs work in the same lane in order, one after the other', async () => {
    const lanes = new KeyedMutex();
    const { open, opened } = gate();
    const log: string[] = [];
    const work = (name: string) => async () => {
      log.push(`${name} began`);
      await opened;
      log.push(`${name} ended`);
    };

    const both = [lanes.inTurn('a', untouched, work('first')), lanes.inTurn('a', untouched, work('second'))];
    open();
    await Promise.all(both);

    expect(log).toEqual(['first began', 'first ended', 'second began', 'second ended']);
  });

  it('does not make different lanes wait for each other', async () => {
    const lanes = new KeyedMutex();
    const { open, opened } = gate();

    const slow = lanes.inTurn('a', untouched, () => opened);
    await expect(lanes.inTurn('b', untouched, async () => 'done')).resolves.toBe('done');
    open();
    await slow;
  });

  it('goes on after work that failed', async () => {
    const lanes = new KeyedMutex();

    const failing = lanes.inTurn('a', untouched, () => Promise.reject(new Error('broken')));
    const next = lanes.inTurn('a', untouched, async () => 'done');

    await expect(failing).rejects.toThrow('broken');
    await expect(next).resolves.toBe('done');
  });

  it('lets someone who waits leave at once, and nobody overtake', async () => {
    const lanes = new KeyedMutex();
    const { open, opened } = gate();
    const leaving = new AbortController();
    const log: string[] = [];

    const first = lanes.inTurn('a', untouched, async () => {
      await opened;
      log.push('first');
    });
    const second = lanes.inTurn('a', leaving.signal, async () => log.push('second'));
    const third = lanes.inTurn('a', untouched, async () => log.push('third'));
    leaving.abort(new Error('stopped'));

    await expect(second).rejects.toThrow('stopped');
    open();
    await Promise.all([first, third]);
    expect(log).toEqual(['first', 'third']);
  });
});
