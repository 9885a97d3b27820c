import type { DeltaEvent, RecordedFact, Run, RunEvent, RunId } from '@rondo/contract';
import type { RunAddress, RunHolder } from '@rondo/persistence';
import type { StreamNotice } from './stream-notices';

/** What the log answers with. */
export type LoggedEvent = RecordedFact | StreamNotice;

export interface LogPage {
  readonly events: readonly LoggedEvent[];
  /** Nothing was behind it when it was read. */
  readonly isEnd: boolean;
}

/** What a watcher begins with, all of one moment. */
export interface Opening extends LogPage {
  readonly run: Run;
  readonly holder: RunHolder | undefined;
}

/** Where the hub learns what happens to runs. */
export interface RunSources {
  /** The run, and the log as `factsAfter` has it. Rejects with `run_not_found` for another account's run too (R39). */
  open(run: RunAddress, after: number): Promise<Opening>;
  /** The log: notices of what is not kept any more, and facts with a greater seq than `after`, in order, some hundreds at most. */
  factsAfter(run: RunAddress, after: number): Promise<LogPage>;
  /**
   * The feed: fast, and allowed to lose. What is published after `ready()` has resolved reaches `onEvent` unless it is lost. `json` is
   * the event as it came.
   */
  watch(runId: RunId, onEvent: (event: RunEvent, json?: string) => void): { ready(): Promise<void>; stop(): void };
  /** The text so far of the streams that the run's holder has open, as deltas from offset 0. Nobody answers: none. */
  openStreams(run: RunAddress, holder: RunHolder): Promise<readonly DeltaEvent[]>;
  /** The last seq of each of these runs, in one question; a run that is not there any more is left out. */
  headsOf(runs: readonly RunId[]): Promise<ReadonlyMap<RunId, number>>;
  /** Who holds the run now, as far as Postgres knows. */
  holderOf(run: RunAddress): Promise<RunHolder | undefined>;
}
