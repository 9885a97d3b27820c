import { type DeltaEvent, type EventId, type RecordedFact, type Run, type RunId, deltaTextKey } from '@rondo/contract';
import type { RunFeed } from '@rondo/domain';
import type { RunLive } from '@rondo/messaging';
import type { EventPage, ReadPosition, RunAddress, RunHolder, Runs } from '@rondo/persistence';
import type { WorkerSignals } from '../runs/worker-signals';
import { type StreamNotice, createRewound, listNotices } from './stream-notices';

/** What the log answers with. */
export type LoggedEvent = RecordedFact | StreamNotice;

export interface LogPage {
  readonly events: readonly LoggedEvent[];
  /** The log ended here when it was read. */
  readonly isEnd: boolean;
}

/** What a subscription starts from, read in one snapshot. */
export interface Opening extends LogPage {
  readonly run: Run;
  readonly holder: RunHolder | undefined;
  /** Set if the reader has facts that are not in the log: `events` begin at the first of them, after the notice. */
  readonly lostFrom?: number | undefined;
}

/** Where subscriptions learn what happens to runs. */
export interface RunSources {
  /** The run, and the log as `factsAfter` has it. Rejects with `run_not_found`, for another account's run too. */
  open(run: RunAddress, position: ReadPosition): Promise<Opening>;
  /** The log: notices of facts that retention has removed, and facts with a greater seq than `after`, in order, one page. */
  factsAfter(run: RunAddress, after: number): Promise<LogPage>;
  /**
   * The feed: fast, and allowed to lose. What is published after `ready()` has resolved reaches `onEvent` unless it is lost. `json` is
   * the event as it arrived.
   */
  watch: RunFeed['watch'];
  /** The text so far of the streams that the run's holder has open, as deltas from offset 0; none when it does not answer. */
  openStreams(run: RunAddress, holder: RunHolder): Promise<readonly DeltaEvent[]>;
  /** The last seq of each of these runs, in one query; a run that no longer exists is left out. */
  readHeads(runs: readonly RunId[]): Promise<ReadonlyMap<RunId, number>>;
  /** The worker that holds the run now, as far as Postgres knows. */
  findHolder(run: RunAddress): Promise<RunHolder | undefined>;
}

interface Adapters {
  readonly runs: Pick<Runs, 'events' | 'open' | 'heads'>;
  readonly findHolder: (run: RunAddress) => Promise<RunHolder | undefined>;
  readonly feed: Pick<RunFeed, 'watch'>;
  readonly workers: Pick<WorkerSignals, 'openStreams'>;
  readonly newEventId: () => EventId;
}

const limit = 200;

/** The log is Postgres, the feed is NATS, and open streams are requested from the worker that holds the run. */
export function createRunSources({ runs, findHolder, feed, workers, newEventId }: Adapters): RunSources {
  const logPage = (page: EventPage, after: number): LogPage => {
    const last = page.data.at(-1)?.seq ?? page.snapshot?.through_seq ?? after;
    return { events: [...listNotices(page, newEventId), ...page.data], isEnd: last >= page.head_seq };
  };
  return {
    open: async (address, position) => {
      const { run, holder, page, lostFrom } = await runs.open(address, { ...position, limit });
      const { events, isEnd } = logPage(page, lostFrom === undefined ? position.after : lostFrom - 1);
      if (lostFrom === undefined) return { run, holder, events, isEnd };
      return { run, holder, events: [createRewound(run, lostFrom, newEventId()), ...events], isEnd, lostFrom };
    },
    factsAfter: async (address, after) => logPage(await runs.events(address, { after, limit }), after),
    readHeads: (ids) => runs.heads(ids),
    watch: (runId, onEvent) => feed.watch(runId, onEvent),
    openStreams: async ({ runId }, holder) => {
      const streams = await workers.openStreams(holder.workerId, runId);
      return streams.map((stream) => toDelta(stream, { runId, holder, id: newEventId() }));
    },
    findHolder,
  };
}

const toDelta = (
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
