import { type Run, isTerminal, isWaiting, isTerminalFact } from '@rondo/contract';
import type { RunAddress } from '@rondo/persistence';
import { anySignal } from '@rondo/platform';
import type { RunSubscriptions } from './run-subscriptions';
import type { SubscriberEvent } from './stream-notices';

const isTerminalOrWaiting = ({ status }: Run): boolean => isTerminal(status) || isWaiting(status);

/** The run as soon as it is terminal or waits for input, or else when `signal` is aborted. */
export async function waitForRun(
  subscriptions: RunSubscriptions,
  { address, signal, read }: { address: RunAddress; signal: AbortSignal; read: () => Promise<Run> },
): Promise<Run> {
  let run = await read();
  while (!isTerminalOrWaiting(run) && !signal.aborted && !subscriptions.closed.aborted) {
    await untilStatusMayHaveChanged(subscriptions, { address, after: run.last_seq, signal });
    run = await read();
  }
  return run;
}

async function untilStatusMayHaveChanged(
  subscriptions: RunSubscriptions,
  { address, after, signal }: { address: RunAddress; after: number; signal: AbortSignal },
): Promise<void> {
  const changed = new AbortController();
  const sink = {
    send: (event: SubscriberEvent) => {
      if (event.type === 'run.waiting' || (event.seq !== null && isTerminalFact(event))) changed.abort();
      return true;
    },
    drained: () => Promise.resolve(),
  };
  const either = anySignal([signal, changed.signal]);
  await subscriptions
    .subscribe(address, { after, sink, signal: either.signal })
    .then(({ ending }) => ending)
    .finally(() => either.release());
}
