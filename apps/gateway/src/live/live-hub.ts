import { setMaxListeners } from 'node:events';
import { type AccountId, type Run, isTerminal } from '@rondo/domain';
import { anySignal } from './any-signal';
import { type Ending, Follower, type Sink } from './follower';
import { LiveRun, type LiveRunSettings } from './live-run';
import type { LiveSources, WatchedRun } from './live-sources';

export interface LiveHubSettings extends LiveRunSettings {
  /** A watched run of which nothing was heard for this long is looked up in the log (W60: silence says nothing). */
  readonly pollMs: number;
  readonly stallLimitMs: number;
  readonly retryMs: number;
}

/** Who follows, from where, and until when. */
export interface Watch {
  readonly accountId: AccountId;
  /** Facts up to this seq are known already. */
  readonly after: number;
  readonly sink: Sink;
  readonly signal: AbortSignal;
}

interface Shared {
  readonly live: LiveRun;
  followers: number;
}

/**
 * Everything that somebody watches through this process: one `LiveRun` per run, however many watch it (W54).
 * REST's `wait`, SSE and Socket.IO are three faces of it.
 */
export class LiveHub {
  private readonly runs = new Map<string, Shared>();
  private readonly closing = new AbortController();
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly sources: LiveSources,
    private readonly settings: LiveHubSettings,
  ) {
    setMaxListeners(0, this.closing.signal); // one per watcher
    this.timer = setInterval(() => this.poll(), settings.pollMs);
  }

  /** Aborted when this process shuts down. */
  get closed(): AbortSignal {
    return this.closing.signal;
  }

  get watchedRuns(): number {
    return this.runs.size;
  }

  get watchers(): number {
    return [...this.runs.values()].reduce((sum, { followers }) => sum + followers, 0);
  }

  /** Resolves when the run is over, the watcher is gone, or the process shuts down. Watching never changes a run (I8). */
  async follow(run: Run, { accountId, after, sink, signal }: Watch): Promise<Ending> {
    if (isTerminal(run.status) && after >= run.last_seq) return 'ended';
    const watched = { accountId, runId: run.id, threadId: run.thread_id };
    let release = () => {};
    const either = anySignal([signal, this.closing.signal]);
    const from = Math.min(after, run.last_seq);
    const follower = new Follower(
      { after: from, sink, signal: either.signal },
      {
        ...this.settings,
        factsAfter: (seq) => this.sources.factsAfter(watched, seq),
        live: (head) => {
          release = () => {
            this.release(watched);
          };
          return this.open(watched, { head, isHeld: run.status !== 'queued' });
        },
      },
    );
    return follower.follow().finally(() => {
      either.release();
      release();
    });
  }

  close(): void {
    clearInterval(this.timer);
    this.closing.abort();
  }

  private open(watched: WatchedRun, from: { head: number; isHeld: boolean }): LiveRun {
    const shared = this.runs.get(watched.runId) ?? {
      live: new LiveRun({ run: watched, ...from }, this.sources, this.settings),
      followers: 0,
    };
    shared.followers += 1;
    this.runs.set(watched.runId, shared);
    return shared.live;
  }

  private release({ runId }: WatchedRun): void {
    const shared = this.runs.get(runId);
    if (!shared) return;
    shared.followers -= 1;
    if (shared.followers > 0) return;
    shared.live.close();
    this.runs.delete(runId);
  }

  private poll(): void {
    for (const { live } of this.runs.values()) void live.poll(this.settings.pollMs);
  }
}
