import { EventEmitter } from 'node:events';
import { RunWatches } from './run-watches';

/** Watches of a run that is at work and says nothing, and how many are open. */
function createWatches() {
  const open = { count: 0 };
  const begin = () => {
    open.count += 1;
    return () => (open.count -= 1);
  };
  const subscribe = (_: unknown, { signal }: { readonly signal: AbortSignal }) => {
    const ending = new Promise<string>((resolve) => {
      if (signal.aborted) resolve('left');
      else signal.addEventListener('abort', () => resolve('left'));
    });
    return Promise.resolve({ ending });
  };
  const runs = { get: () => Promise.resolve({ status: 'running', last_seq: 1 }) };
  const follow = { runs: { subscribe, closed: new AbortController().signal } };
  return { open, watches: new RunWatches(runs as never, follow as never, { begin } as never) };
}

const address = { accountId: 'acc_1', runId: 'run_1' } as never;
const gone = Object.assign(new EventEmitter(), { closed: true });
const watcher = { caller: {} as never, response: gone as never };

describe('a watch of a client that left before it began', () => {
  it('is over at once, and holds no place', async () => {
    const { open, watches } = createWatches();
    await watches.wait(address, { ...watcher, timeoutS: 600 });
    const neverRead = watches.readUntil(address, { ...watcher, after: 0 }, () => false);
    await expect(neverRead).rejects.toMatchObject({ code: 'service_unavailable' });
    expect(open.count).toBe(0);
  });
});
