import { type DeltaEvent, type EventId, type RunId, deltaTextKey } from '@rondo/contract';
import type { RunLive } from '@rondo/messaging';
import type { EventPage, RunAddress, RunHolder, Runs } from '@rondo/persistence';
import type { DeferredRunFeed } from '../wiring/deferred-run-feed';
import type { WorkerSignals } from '../wiring/worker-signals';
import type { RunSources, LogPage } from './run-sources';
import { noticesOf } from './stream-notices';

interface Parts {
  readonly runs: Pick<Runs, 'events' | 'open' | 'heads'>;
  readonly holderOf: (run: RunAddress) => Promise<RunHolder | undefined>;
  readonly feed: Pick<DeferredRunFeed, 'watch'>;
  readonly workers: Pick<WorkerSignals, 'openStreams'>;
  readonly mint: () => EventId;
}

const limit = 200;

/** The log is Postgres, the feed is NATS, and the holder's open streams are asked for by name. */
export function runSourcesOf({ runs, holderOf, feed, workers, mint }: Parts): RunSources {
  const logged = (page: EventPage, after: number): LogPage => {
    const last = page.data.at(-1)?.seq ?? page.snapshot?.through_seq ?? after;
    return { events: [...noticesOf(page, mint), ...page.data], isEnd: last >= page.head_seq };
  };
  return {
    open: async (address, after) => {
      const { run, holder, page } = await runs.open(address, { after, limit });
      const { events, isEnd } = logged(page, after);
      return { run, holder, events, isEnd };
    },
    factsAfter: async (address, after) => logged(await runs.events(address, { after, limit }), after),
    headsOf: (ids) => runs.heads(ids),
    watch: (runId, onEvent) => feed.watch(runId, onEvent),
    openStreams: async ({ runId }, holder) => {
      const streams = await workers.openStreams(holder.workerId, runId);
      return streams.map((stream) => deltaOf(stream, { runId, holder, id: mint() }));
    },
    holderOf,
  };
}

const deltaOf = (
  stream: RunLive['streams'][number],
  { runId, holder, id }: { runId: RunId; holder: RunHolder; id: EventId },
): DeltaEvent => ({
  id,
  v: 1,
  seq: null,
  type: stream.type,
  run_id: runId,
  thread_id: holder.threadId,
  iteration: stream.iteration,
  epoch: stream.epoch,
  at: new Date().toISOString(),
  after_seq: stream.after_seq,
  stream_id: stream.stream_id,
  offset: 0,
  data: { ...stream.data, [deltaTextKey(stream.type)]: stream.text },
});
