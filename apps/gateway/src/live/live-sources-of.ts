import { type DeltaEvent, type EventId, deltaTextKey } from '@rondo/domain';
import type { RunLive } from '@rondo/messaging';
import type { Runs } from '@rondo/persistence';
import type { LateFeed } from '../wiring/late-feed';
import type { WorkerSignals } from '../wiring/worker-signals';
import type { LiveSources, WatchedRun } from './live-sources';
import { noticesOf } from './stream-notices';

interface Parts {
  readonly runs: Pick<Runs, 'events'>;
  /** The worker that holds the run. */
  readonly holderOf: (run: WatchedRun) => Promise<string | undefined>;
  readonly feed: Pick<LateFeed, 'watch'>;
  readonly workers: Pick<WorkerSignals, 'openStreams'>;
  readonly mint: () => EventId;
}

const logPage = 200;

/** The log is Postgres, the feed is NATS, and the holder's open streams are asked for by name. */
export function liveSourcesOf({ runs, holderOf, feed, workers, mint }: Parts): LiveSources {
  return {
    factsAfter: async (run, after) => {
      const page = await runs.events(run, { after, limit: logPage });
      const last = page.data.at(-1)?.seq ?? page.snapshot?.through_seq ?? after;
      return { events: [...noticesOf(page, mint), ...page.data], isEnd: last >= page.head_seq };
    },
    watch: (runId, onEvent) => feed.watch(runId, onEvent),
    openStreams: async (run) => {
      const workerId = await holderOf(run);
      if (workerId === undefined) return [];
      const streams = await workers.openStreams(workerId, run.runId);
      return streams.map((stream) => deltaOf(stream, run, mint()));
    },
  };
}

const deltaOf = (stream: RunLive['streams'][number], run: WatchedRun, id: EventId): DeltaEvent => ({
  id,
  v: 1,
  seq: null,
  type: stream.type,
  run_id: run.runId,
  thread_id: run.threadId,
  iteration: stream.iteration,
  epoch: stream.epoch,
  at: new Date().toISOString(),
  after_seq: stream.after_seq,
  stream_id: stream.stream_id,
  offset: 0,
  data: { ...stream.data, [deltaTextKey(stream.type)]: stream.text },
});
