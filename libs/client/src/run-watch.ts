import type { HandledTools } from './caller-tools.ts';
import type { StreamEvent } from './generated/api.ts';
import { RunLog } from './run-log.ts';
import type { RunView } from './run-view.ts';
import type { Runs } from './runs.ts';

/** What a page shows of a run. */
export interface WatchedRun {
  readonly view: RunView;
  /** Whether events arrive; false before the first one, while a connection is made again, and at the end. */
  readonly isLive: boolean;
  /** Why the watch ended before the run did: no such run, a revoked key. A new subscription, when there is none, tries again. */
  readonly error: Error | null;
}

/** Listeners hear of changes at most once in this time, so that a fast stream does not keep a page from painting. */
const frameMs = 16;

/** A run as something to subscribe to. It is read while there are subscribers, and continues where it was left. */
export class RunWatch {
  private readonly log = new RunLog();
  private readonly listeners = new Set<() => void>();
  private reading: AbortController | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private pending: Partial<WatchedRun> = {};
  private state: WatchedRun = { view: this.log.view, isLive: false, error: null };

  constructor(
    private readonly runs: Pick<Runs, 'streamGroups' | 'serve'>,
    readonly runId: string,
    /** Of the caller. They are run while there are subscribers. */
    private readonly tools: HandledTools = {},
  ) {}

  /** Returns what ends the subscription. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    this.reading ??= this.begin();
    return () => {
      this.listeners.delete(listener);
      if (this.listeners.size > 0) return;
      this.reading?.abort();
      this.reading = undefined;
    };
  };

  /** The same object until something changes. */
  readonly current = (): WatchedRun => this.state;

  private begin(): AbortController {
    const reading = new AbortController();
    void this.read(reading.signal);
    return reading;
  }

  private async read(signal: AbortSignal): Promise<void> {
    const onCut = () => this.show({ isLive: false });
    try {
      if (Object.keys(this.tools).length > 0) {
        const onWaiting = () => undefined; // the page shows it
        await this.runs.serve(this.runId, this.tools, { signal, onCut, onWaiting, onEvent: this.apply });
      } else {
        const { lastSeq: after, lastEpoch: afterEpoch } = this.log;
        const options = { after, afterEpoch, signal, onCut };
        for await (const events of this.runs.streamGroups(this.runId, options)) events.forEach(this.apply);
      }
      this.show({ isLive: false, error: null });
    } catch (error) {
      if (!signal.aborted)
        this.show({ isLive: false, error: error instanceof Error ? error : new Error(String(error)) });
    }
  }

  private readonly apply = (event: StreamEvent): void => {
    this.log.apply(event);
    this.show({ isLive: true, error: null });
  };

  private show(change: Partial<WatchedRun>): void {
    this.pending = { ...this.pending, ...change };
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.state = { ...this.state, ...this.pending, view: this.log.view };
      for (const listener of this.listeners) listener();
    }, frameMs);
  }
}
