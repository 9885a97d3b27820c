import { type Run, isTerminal, isWaiting } from '@rondo/contract';
import type { RunAddress } from '@rondo/persistence';
import { anySignal } from '@rondo/platform';
import type { RunSubscriptions } from './run-subscriptions';
import { endsRun } from './stream-of';
import type { WatchEvent } from './stream-notices';

const rests = ({ status }: Run): boolean => isTerminal(status) || isWaiting(status);

/** The run as it is when it rests (it is over, or waits for somebody), or else when `signal` is aborted. */
export async function waitForRest(
  hub: RunSubscriptions,
  { address, signal, read }: { address: RunAddress; signal: AbortSignal; read: () => Promise<Run> },
): Promise<Run> {
  let run = await read();
  while (!rests(run) && !signal.aborted && !hub.closed.aborted) {
    await untilItMayRest(hub, { address, after: run.last_seq, signal });
    run = await read();
  }
  return run;
}

async function untilItMayRest(
  hub: RunSubscriptions,
  { address, after, signal }: { address: RunAddress; after: number; signal: AbortSignal },
): Promise<void> {
  const rested = new AbortController();
  const sink = {
    send: (event: WatchEvent) => {
      if (event.type === 'run.waiting' || (event.seq !== null && endsRun(event))) rested.abort();
      return true;
    },
    drained: () => Promise.resolve(),
  };
  const either = anySignal([signal, rested.signal]);
  await hub
    .follow(address, { after, sink, signal: either.signal })
    .then(({ ending }) => ending)
    .finally(() => either.release());
}
