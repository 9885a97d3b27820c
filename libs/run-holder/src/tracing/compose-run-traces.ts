import type { ClaimedRun, RunFeed, RunQueueName } from '@rondo/domain';
import { RunTraces, type RunTracesParts } from './run-traces';

type Publishes = Pick<RunFeed, 'publish'>;

/** The traces of a process that claims runs of one queue, written from what it publishes. While tracing is off, nothing is. */
export function composeRunTraces(
  feed: Publishes,
  { queue, ...parts }: RunTracesParts & { readonly queue: RunQueueName },
) {
  const { tracing } = parts;
  if (!tracing.isOn) return { feed, activated: undefined, close: () => tracing.close() };
  const traces = new RunTraces(parts);
  return {
    feed: traces.following(feed),
    activated: (claim: ClaimedRun) => traces.activated(claim, queue),
    close: async () => {
      await traces.settled();
      await tracing.close();
    },
  };
}
