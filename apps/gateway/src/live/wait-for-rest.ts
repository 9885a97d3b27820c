import { type AccountId, type Run, isTerminal, isWaiting } from '@rondo/domain';
import { anySignal } from './any-signal';
import type { LiveHub } from './live-hub';
import { endsRun } from './stream-of';
import type { WatchEvent } from './stream-notices';

const rests = ({ status }: Run): boolean => isTerminal(status) || isWaiting(status);

/** The run as it is when it rests (it is over, or waits for somebody), or else when `signal` is aborted. */
export async function waitForRest(
  hub: LiveHub,
  { accountId, signal, read }: { accountId: AccountId; signal: AbortSignal; read: () => Promise<Run> },
): Promise<Run> {
  let run = await read();
  while (!rests(run) && !signal.aborted && !hub.closed.aborted) {
    await untilItMayRest(hub, { run, accountId, signal });
    run = await read();
  }
  return run;
}

async function untilItMayRest(
  hub: LiveHub,
  { run, accountId, signal }: { run: Run; accountId: AccountId; signal: AbortSignal },
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
  const watch = { accountId, after: run.last_seq, sink, signal: either.signal };
  await hub.follow(run, watch).finally(() => either.release());
}
