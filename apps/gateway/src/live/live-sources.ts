import type { AccountId, DeltaEvent, RecordedFact, RunEvent, RunId, ThreadId } from '@rondo/domain';
import type { StreamNotice } from './stream-notices';

/** A run as its owner sees it: nothing is read without the account that asks (R39). */
export interface WatchedRun {
  readonly accountId: AccountId;
  readonly runId: RunId;
  readonly threadId: ThreadId;
}

/** What the log answers with. */
export type LoggedEvent = RecordedFact | StreamNotice;

export interface LogPage {
  readonly events: readonly LoggedEvent[];
  /** Nothing was behind it when it was read. */
  readonly isEnd: boolean;
}

/** Where the hub learns what happens to runs. */
export interface LiveSources {
  /** The log: notices of what is not kept any more, and facts with a greater seq than `after`, in order, some hundreds at most. */
  factsAfter(run: WatchedRun, after: number): Promise<LogPage>;
  /**
   * The feed: fast, and allowed to lose. What is published after `ready` reaches `onEvent` unless it is lost. `json` is
   * the event as it came.
   */
  watch(
    runId: RunId,
    onEvent: (event: RunEvent, json?: string) => void,
  ): { readonly ready: Promise<void>; stop(): void };
  /** The text so far of the streams that the run's holder has open, as deltas from offset 0. Nobody answers: none. */
  openStreams(run: WatchedRun): Promise<readonly DeltaEvent[]>;
}
