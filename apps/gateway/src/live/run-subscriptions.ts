import { setImmediate } from 'node:timers/promises';
import type { Run } from '@rondo/contract';
import type { CreatedRun, ReadPosition, RunAddress } from '@rondo/persistence';
import { PeriodicTask, afterImmediates } from '@rondo/platform';
import { type MemoryBudget, memoryPer } from '../auth/memory-budget';
import { RunBroadcast, type RunBroadcastSettings } from './run-broadcast';
import type { Opening, RunSources } from './run-sources';
import { type Ending, RunSubscriber, type Sink, type SubscriberSettings } from './run-subscriber';

export interface RunSubscriptionsSettings extends RunBroadcastSettings, SubscriberSettings {
  /** A run with subscribers that received nothing for this long is compared with its log: a lost last event shows no gap. */
  readonly pollMs: number;
  /** Of accounts: a subscription that does not fit is refused. */
  readonly memory?: Pick<MemoryBudget, 'acquire'>;
}

/** Where events go, from which seq, and until when: until the signal is aborted, where there is one. */
export interface SubscribeOptions extends ReadPosition {
  readonly sink: Sink;
  readonly signal?: AbortSignal;
}

export interface ActiveSubscription {
  /** As it was when the subscription began. */
  readonly run: Run;
  /** Resolves when the run is over, the subscriber has left, or the process shuts down. */
  readonly ending: Promise<Ending>;
  /** Ends it, as when the client unsubscribes. */
  readonly close: () => void;
}

/** A run that was just created, with the facts that its log begins with. */
export type NewRunLog = Pick<CreatedRun, 'run' | 'facts'>;

interface Start {
  readonly open: (broadcast: RunBroadcast) => Promise<Opening>;
  /** Resolves when the request that subscribed has its answer, which precedes all events. */
  readonly answered: (broadcast: RunBroadcast) => Promise<unknown>;
  /** Gives back the memory that it takes. */
  readonly release: () => void;
}

/**
 * The first events of a new run are sent with the first ones of its worker, which come within so long: a message less, and none that
 * delays the job on its way to the worker.
 */
const newRunDelayMs = 30;

interface SharedBroadcast {
  readonly broadcast: RunBroadcast;
  subscribers: number;
}

/**
 * All subscriptions of this process: one `RunBroadcast` per run, however many of its account subscribe to it. REST's `wait`,
 * SSE and Socket.IO all use it.
 */
export class RunSubscriptions {
  private readonly broadcasts = new Map<string, SharedBroadcast>();
  private readonly subscribers = new Set<RunSubscriber>();
  private readonly closing = new AbortController();
  private readonly polls: PeriodicTask;

  constructor(
    private readonly sources: RunSources,
    private readonly settings: RunSubscriptionsSettings,
  ) {
    const { pollMs: everyMs, onError: failed } = settings;
    this.polls = new PeriodicTask({ everyMs, work: () => this.poll(), failed });
    this.polls.start();
  }

  /** Aborted when this process shuts down. */
  get closed(): AbortSignal {
    return this.closing.signal;
  }

  get runCount(): number {
    return this.broadcasts.size;
  }

  get subscriberCount(): number {
    return this.subscribers.size;
  }

  /**
   * Reads the run, then delivers everything from there on, but nothing before the caller has its answer. Rejects with
   * `run_not_found`, or `too_many_bytes_in_flight`. A subscription never changes a run (I8).
   */
  subscribe(address: RunAddress, options: SubscribeOptions): Promise<ActiveSubscription> {
    const open = async (broadcast: RunBroadcast) => {
      await broadcast.ready();
      return this.sources.open(address, { after: options.after, afterEpoch: options.afterEpoch });
    };
    return this.start(address, options, { open, answered: () => setImmediate(), release: this.hold(address) });
  }

  /**
   * The same from the first fact of a run that `create` creates, which is sent to Postgres before the feed is subscribed. The
   * log is not read, since its first facts are known; a fact that a fast worker publishes before the subscription is in place is
   * found missing by the next `seq`.
   */
  async subscribeToNew(
    address: RunAddress,
    options: Omit<SubscribeOptions, 'after'>,
    create: () => Promise<NewRunLog>,
  ): Promise<ActiveSubscription> {
    const release = this.hold(address);
    const creating = create();
    creating.catch(() => undefined); // it is awaited below
    await afterImmediates();
    return this.startNew(address, options, { creating, release });
  }

  /** The same where the run was created a moment ago, before its job can have reached a worker. */
  subscribeToBegun(
    address: RunAddress,
    options: Omit<SubscribeOptions, 'after'>,
    begun: NewRunLog,
  ): Promise<ActiveSubscription> {
    return this.startNew(address, options, { creating: Promise.resolve(begun), release: this.hold(address) });
  }

  private startNew(
    address: RunAddress,
    options: Omit<SubscribeOptions, 'after'>,
    { creating, release }: Pick<Start, 'release'> & { readonly creating: Promise<NewRunLog> },
  ): Promise<ActiveSubscription> {
    const open = async () => {
      const { run, facts } = await creating;
      return { run, holder: undefined, events: facts, isEnd: true };
    };
    const answered = (broadcast: RunBroadcast) => setImmediate().then(() => broadcast.firstEvent(newRunDelayMs));
    return this.start(address, { ...options, after: 0 }, { open, answered, release });
  }

  /** Ends all: the database was replaced, and may lack what was sent. Clients come again and say what they have. */
  cutAll(): void {
    for (const { broadcast } of this.broadcasts.values()) broadcast.cut();
    for (const subscriber of this.subscribers) subscriber.cut(); // also those that have not joined theirs
  }

  close(): void {
    void this.polls.stop();
    this.closing.abort();
    for (const subscriber of this.subscribers) subscriber.close();
  }

  private async start(
    address: RunAddress,
    { after, sink, signal }: SubscribeOptions,
    { open, answered, release }: Start,
  ): Promise<ActiveSubscription> {
    const shared = this.acquire(address);
    const { broadcast } = shared;
    const leave = () => {
      release();
      this.release(address, shared);
    };
    try {
      const opening = await open(broadcast);
      const parts = { sources: this.sources, broadcast, settings: this.settings };
      const subscriber = new RunSubscriber({ address, after, opening, sink }, parts);
      const close = () => subscriber.close();
      signal?.addEventListener('abort', close);
      if (signal?.aborted || this.closed.aborted) close();
      this.subscribers.add(subscriber);
      const ending = answered(broadcast)
        .then(() => subscriber.run())
        .finally(() => {
          this.subscribers.delete(subscriber);
          signal?.removeEventListener('abort', close);
          leave();
        });
      return { run: opening.run, ending, close };
    } catch (error) {
      leave();
      throw error;
    }
  }

  private hold({ accountId }: RunAddress): () => void {
    return this.settings.memory?.acquire(accountId, memoryPer.subscription) ?? (() => undefined);
  }

  private acquire(address: RunAddress): SharedBroadcast {
    const known = this.broadcasts.get(toKey(address));
    const shared =
      known && !known.broadcast.isCut
        ? known
        : { broadcast: new RunBroadcast(address, this.sources, this.settings), subscribers: 0 };
    shared.subscribers += 1;
    this.broadcasts.set(toKey(address), shared);
    return shared;
  }

  private release(address: RunAddress, shared: SharedBroadcast): void {
    shared.subscribers -= 1;
    if (shared.subscribers > 0) return;
    shared.broadcast.close();
    if (this.broadcasts.get(toKey(address)) === shared) this.broadcasts.delete(toKey(address));
  }

  /** One query reads the last seq of all idle runs. Only those whose log is longer than what was received are read. */
  private async poll(): Promise<void> {
    const all = [...this.broadcasts.values()].map(({ broadcast }) => broadcast);
    const idle = all.filter((broadcast) => broadcast.isIdle(this.settings.pollMs));
    if (idle.length === 0) return;
    const heads = await this.sources.readHeads(idle.map(({ runId }) => runId));
    await Promise.all(idle.map((broadcast) => broadcast.poll(heads.get(broadcast.runId))));
  }
}

/** By account too: a caller is not yet known to own the run, and its owner's facts must not be read as another account. */
const toKey = ({ accountId, runId }: RunAddress): string => `${accountId} ${runId}`;
