import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { type RecordedFact, type Run, isTerminal } from '@rondo/contract';
import type { RunAddress } from '@rondo/persistence';
import { afterImmediates } from '@rondo/platform';
import { type Ending, RunSubscriber, type Sink } from './run-subscriber';
import { RunBroadcast, type RunBroadcastSettings } from './run-broadcast';
import type { RunSources, Opening } from './run-sources';

export interface RunSubscriptionsSettings extends RunBroadcastSettings {
  /** A watched run of which nothing was heard for this long is looked up in the log (W60: silence says nothing). */
  readonly pollMs: number;
  readonly stallLimitMs: number;
  readonly retryMs: number;
}

/** Who follows, from where, and until when. */
export interface Watch {
  /** Facts up to this seq are known already. */
  readonly after: number;
  readonly sink: Sink;
  readonly signal: AbortSignal;
}

/** A watch that has begun. */
export interface Watched {
  /** As it was then. */
  readonly run: Run;
  /** Resolves when the run is over, the watcher is gone, or the process shuts down. */
  readonly ending: Promise<Ending>;
}

/** A run as it was made, and what its log began with. */
export interface MadeRun {
  readonly run: Run;
  readonly facts: readonly RecordedFact[];
}

/** How a watch begins. */
interface Beginning {
  readonly open: (live: RunBroadcast) => Promise<Opening>;
  /** Resolves when whoever asked for the watch has its answer, which comes before all that is told. */
  readonly answered: () => Promise<unknown>;
}

/** What a run begins with waits until its job is with a worker: that is what its watcher waits for. */
const leavingMs = 4;

interface Shared {
  readonly live: RunBroadcast;
  followers: number;
}

/**
 * Everything that somebody watches through this process: one `RunBroadcast` per run, however many of its account watch it (W54).
 * REST's `wait`, SSE and Socket.IO are three faces of it.
 */
export class RunSubscriptions {
  private readonly runs = new Map<string, Shared>();
  private readonly followers = new Set<RunSubscriber>();
  private readonly closing = new AbortController();
  private readonly timer: NodeJS.Timeout;
  private isPolling = false;

  constructor(
    private readonly sources: RunSources,
    private readonly settings: RunSubscriptionsSettings,
  ) {
    this.timer = setInterval(() => void this.poll(), settings.pollMs);
  }

  /** Aborted when this process shuts down. */
  get closed(): AbortSignal {
    return this.closing.signal;
  }

  get watchedRuns(): number {
    return this.runs.size;
  }

  get watchers(): number {
    return this.followers.size;
  }

  /**
   * Reads the run, and tells the watcher everything from then on, though nothing before the caller has heard of it.
   * Rejects with `run_not_found`. Watching never changes a run (I8).
   */
  follow(address: RunAddress, watch: Watch): Promise<Watched> {
    const open = async (live: RunBroadcast) => {
      await live.listening();
      return this.sources.open(address, watch.after);
    };
    return this.begin(address, watch, { open, answered: setImmediate });
  }

  /**
   * The same from the first fact of a run that `make` makes meanwhile, and is given time to ask for before anybody listens.
   * Nothing is read, for nobody has spoken of it before; and if its holder is faster than the subscription, the next `seq` tells.
   */
  async followNew(address: RunAddress, watch: Omit<Watch, 'after'>, make: () => Promise<MadeRun>): Promise<Watched> {
    const making = make();
    making.catch(() => undefined); // it is waited for below
    await afterImmediates();
    const open = async () => {
      const { run, facts } = await making;
      return { run, holder: undefined, events: facts, isEnd: true };
    };
    return this.begin(address, { ...watch, after: 0 }, { open, answered: () => sleep(leavingMs) });
  }

  close(): void {
    clearInterval(this.timer);
    this.closing.abort();
    for (const follower of this.followers) follower.leave();
  }

  private async begin(address: RunAddress, watch: Watch, { open, answered }: Beginning): Promise<Watched> {
    const live = this.enter(address);
    try {
      const opening = await open(live);
      const ending = answered().then(() => this.tell(live, address, { ...watch, opening }));
      return { run: opening.run, ending: ending.finally(() => this.release(address)) };
    } catch (error) {
      this.release(address);
      throw error;
    }
  }

  private async tell(live: RunBroadcast, address: RunAddress, watch: Watch & { opening: Opening }): Promise<Ending> {
    const { run } = watch.opening;
    if (isTerminal(run.status) && watch.after >= run.last_seq) return 'ended';
    if (this.closed.aborted) return 'closed';
    const { stallLimitMs, retryMs, mint, onTrouble } = this.settings;
    const factsAfter = (seq: number) => this.sources.factsAfter(address, seq);
    const follower = new RunSubscriber(
      { ...watch, after: Math.min(watch.after, run.last_seq) },
      { live, factsAfter, stallLimitMs, retryMs, mint, onTrouble },
    );
    this.followers.add(follower);
    return follower.follow().finally(() => this.followers.delete(follower));
  }

  private enter(address: RunAddress): RunBroadcast {
    const shared = this.runs.get(keyOf(address)) ?? {
      live: new RunBroadcast(address, this.sources, this.settings),
      followers: 0,
    };
    shared.followers += 1;
    this.runs.set(keyOf(address), shared);
    return shared.live;
  }

  private release(address: RunAddress): void {
    const shared = this.runs.get(keyOf(address));
    if (!shared) return;
    shared.followers -= 1;
    if (shared.followers > 0) return;
    shared.live.close();
    this.runs.delete(keyOf(address));
  }

  /** One question for all quiet runs: how far their logs go. Those that go further than was heard are read. */
  private async poll(): Promise<void> {
    const quiet = [...this.runs.values()].map(({ live }) => live).filter((live) => live.isQuiet(this.settings.pollMs));
    if (quiet.length === 0 || this.isPolling) return;
    this.isPolling = true;
    try {
      const heads = await this.sources.headsOf(quiet.map(({ runId }) => runId));
      await Promise.all(quiet.map((live) => live.poll(heads.get(live.runId))));
    } catch (error) {
      this.settings.onTrouble(error);
    } finally {
      this.isPolling = false;
    }
  }
}

/** Who asks for a run is not known to own it yet, and must not have its owner read as somebody else. */
const keyOf = ({ accountId, runId }: RunAddress): string => `${accountId} ${runId}`;
