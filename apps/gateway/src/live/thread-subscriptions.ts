import { setTimeout as sleep } from 'node:timers/promises';
import type { Run, ThreadId } from '@rondo/contract';
import { TerminalError, type RunWatch } from '@rondo/domain';
import type { BegunRun, ThreadAddress } from '@rondo/persistence';
import { PeriodicTask, anySignal } from '@rondo/platform';
import type { RunSubscriptions } from './run-subscriptions';
import type { Ending } from './run-subscriber';
import type { SubscriberEvent } from './stream-notices';

/** Where the runs of threads are learnt of. */
export interface ThreadSources {
  /** Runs that have begun after that place, in order. */
  listBegun(thread: ThreadAddress, after: number): Promise<readonly BegunRun[]>;
  /** How many have begun on each thread, in one query. A thread that no longer exists is left out. */
  countBegun(threads: readonly ThreadId[]): Promise<ReadonlyMap<ThreadId, number>>;
  /** May lose a message: what it does not tell is found by `countBegun`. */
  watchThread(threadId: ThreadId, onRun: () => void): RunWatch;
}

/** An event of a thread: that of a run, and the place of the run among those that have begun on the thread. */
export interface ThreadEvent extends Pick<BegunRun, 'place' | 'factsBefore'> {
  /** As it was when the subscription reached it. */
  readonly run: Run;
  readonly event: SubscriberEvent;
}

/** Like `Sink`, with the run of each event. */
export interface ThreadSink {
  send(event: ThreadEvent, json: string): boolean;
  waitUntilDrained(): Promise<void>;
}

export interface ThreadSubscribeOptions {
  /** The client has everything up to this fact; `{place: 1, seq: 0}` is the beginning of the thread. */
  readonly after: { readonly place: number; readonly seq: number };
  readonly sink: ThreadSink;
  readonly signal: AbortSignal;
}

interface ThreadSubscriptionsSettings {
  /** How often a thread without an active run is compared with Postgres. */
  readonly pollMs: number;
  readonly retryMs: number;
  readonly onError: (error: unknown) => void;
}

/** A subscription that waits for the next run. */
interface Waiter {
  readonly threadId: ThreadId;
  /** How many runs it knows. */
  readonly known: number;
  readonly wake: () => void;
  isDeleted: boolean;
}

/**
 * The events of all runs of a thread, present and future, in one order: by the place of the run, then as the run has them. A
 * thread has one active run, so it is one subscription to a run after the other, and between them it waits for the next one to
 * begin, on whichever gateway it was created.
 */
export class ThreadSubscriptions {
  private readonly waiters = new Set<Waiter>();

  constructor(
    private readonly sources: ThreadSources,
    private readonly runs: Pick<RunSubscriptions, 'subscribe' | 'closed'>,
    private readonly settings: ThreadSubscriptionsSettings,
  ) {
    const { pollMs: everyMs, onError: failed } = settings;
    const polls = new PeriodicTask({ everyMs, work: () => this.poll(), failed });
    polls.start();
    runs.closed.addEventListener('abort', () => void polls.stop());
  }

  /**
   * Delivers until the subscriber leaves or is too slow, the thread is deleted, or the process shuts down; it never resolves to
   * `ended`, since a thread may always get another run. Rejects where a run cannot be subscribed to.
   */
  async subscribe(thread: ThreadAddress, { after, sink, signal }: ThreadSubscribeOptions): Promise<Ending> {
    const either = anySignal([signal, this.runs.closed]);
    const news = new Signal();
    const watch = this.sources.watchThread(thread.threadId, () => news.set());
    try {
      await watch.ready();
      let next = after;
      while (!either.signal.aborted) {
        news.clear();
        const [run] = await this.readNext(thread, next.place - 1);
        if (!run) {
          const wait = { threadId: thread.threadId, known: next.place - 1 };
          if (await this.awaitRun(wait, { news, signal: either.signal })) return 'deleted';
          continue;
        }
        const from = run.place === next.place ? next.seq : 0;
        const ending = await this.follow(thread, run, { after: { place: run.place, seq: from }, sink, signal });
        if (ending !== 'ended') return ending;
        next = { place: run.place + 1, seq: 0 };
      }
      return 'closed';
    } finally {
      watch.stop();
      either.release();
    }
  }

  private async readNext(thread: ThreadAddress, after: number): Promise<readonly BegunRun[]> {
    try {
      return await this.sources.listBegun(thread, after);
    } catch (error) {
      this.settings.onError(error);
      await sleep(this.settings.retryMs);
      return [];
    }
  }

  /** `deleted`: the run is gone, and with it the thread. */
  private async follow(
    { accountId }: ThreadAddress,
    { id: runId, place, factsBefore }: BegunRun,
    { after, sink, signal }: ThreadSubscribeOptions,
  ): Promise<Ending> {
    let run: Run | undefined; // it is known before the first event, which follows the answer
    const runSink = {
      send: (event: SubscriberEvent, json: string) =>
        run !== undefined && sink.send({ place, factsBefore, run, event }, json),
      waitUntilDrained: () => sink.waitUntilDrained(),
    };
    const options = { after: after.seq, sink: runSink, signal };
    try {
      const subscription = await this.runs.subscribe({ accountId, runId }, options);
      ({ run } = subscription);
      return await subscription.ending;
    } catch (error) {
      if (error instanceof TerminalError && error.code === 'run_not_found') return 'deleted';
      throw error;
    }
  }

  /** Resolves to whether the thread is gone. */
  private async awaitRun(
    about: Pick<Waiter, 'threadId' | 'known'>,
    { news, signal }: { readonly news: Signal; readonly signal: AbortSignal },
  ): Promise<boolean> {
    const waiter: Waiter = { ...about, wake: () => news.set(), isDeleted: false };
    this.waiters.add(waiter);
    signal.addEventListener('abort', waiter.wake);
    if (!signal.aborted) await news.whenSet();
    signal.removeEventListener('abort', waiter.wake);
    this.waiters.delete(waiter);
    return waiter.isDeleted;
  }

  private async poll(): Promise<void> {
    const waiters = [...this.waiters];
    if (waiters.length === 0) return;
    const counts = await this.sources.countBegun([...new Set(waiters.map(({ threadId }) => threadId))]);
    for (const waiter of waiters) {
      const count = counts.get(waiter.threadId);
      waiter.isDeleted = count === undefined;
      if (count !== waiter.known) waiter.wake();
    }
  }
}

/** Remembers that something has happened until it is cleared. */
class Signal {
  private isSet = false;
  private resolve: () => void = () => {};

  set(): void {
    this.isSet = true;
    this.resolve();
  }

  clear(): void {
    this.isSet = false;
  }

  async whenSet(): Promise<void> {
    if (!this.isSet) await new Promise<void>((resolve) => (this.resolve = resolve));
  }
}
