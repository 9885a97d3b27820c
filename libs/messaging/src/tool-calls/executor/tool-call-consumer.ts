import { setTimeout as sleep } from 'node:timers/promises';
import { type Msg, type Subscription, nuid } from 'nats';
import type { NatsLink } from '../../connection/nats-link';
import { readReceived } from '../../connection/received';
import type { CallKey } from '../../connection/subjects';
import { CallRecords, isTooLarge } from '../call-records';
import type { ToolStreams } from '../tool-streams';
import {
  type DispatchedCall,
  type ToolReply,
  toAccount,
  dispatchedCall,
  toKey,
  runsUnclaimed,
  toolCancel,
} from '../wire-format';
import { CallAnswers } from './call-answers';
import { CallAttempts, type HandleCall, type RunningCall } from './call-attempts';
import { type CallDelivery, CallDeliveries } from './call-deliveries';
import { FairSlots, type SlotLimits } from './fair-slots';

export interface ToolCallConsumerOptions {
  readonly nats: NatsLink;
  readonly streams: ToolStreams;
  /** Unique among living executors, and the same after a restart. */
  readonly executorId: string;
  /** How many calls run at the same time. */
  readonly slots: SlotLimits;
  readonly handle: HandleCall;
  /** NATS delivers a call again after this long without an acknowledgement that it is in progress. */
  readonly ackWaitMs?: number;
}

type Arrival = Pick<RunningCall, 'deliveries' | 'runsUnclaimed' | 'leaveBacklog'>;

const defaultAckWaitMs = 15_000;
const retryMs = 500;
const longestRedeliveryMs = 30_000;

/**
 * Receives tool calls in an executor and replies to them. A call waits for a slot first; until then it is not claimed, so a
 * worker can withdraw it, and it stays in the queue when this process ends. Then the attempt is claimed before it is run.
 * Only the first claim of an attempt counts, so it runs at most once, however often NATS delivers it and whichever process
 * dies in between (I5): a timeout says nothing about an effect, and the ledger decides whether there is another attempt. Two
 * attempts of a call never run at the same time. A reply is stored before the call leaves the queue.
 * A pure call may run twice: it comes past the queue first, and runs unclaimed where every cancellation of it has been
 * received.
 */
export class ToolCallConsumer {
  private readonly running = new Map<string, RunningCall>();
  private readonly work = new Set<Promise<void>>();
  private readonly records: CallRecords;
  private readonly deliveries: CallDeliveries;
  private readonly answers: CallAnswers;
  private readonly attempts: CallAttempts;
  private readonly slots: FairSlots;
  private readonly backlog = new CallBacklog();
  private readonly continuity: SubscriptionContinuity;
  private readonly directCalls: Subscription;
  private readonly cancellations: Subscription;
  private readonly offReconnect: () => void;
  private readonly inProgressTimer: NodeJS.Timeout;
  private closing = false;

  constructor(private readonly options: ToolCallConsumerOptions) {
    const { nats, streams, executorId, slots, ackWaitMs = defaultAckWaitMs } = options;
    this.records = new CallRecords(nats, streams, executorId);
    this.answers = new CallAnswers(this.records);
    this.attempts = new CallAttempts({
      ...{ log: nats.log, streams, records: this.records, answers: this.answers, handle: options.handle },
      retry: (request) => this.retry(request),
    });
    this.slots = new FairSlots(slots);
    this.continuity = new SubscriptionContinuity(nats, ackWaitMs / 3);
    this.deliveries = new CallDeliveries({
      ...{ nats, streams, executorId, ackWaitMs },
      batch: slots.total,
      onDelivery: (delivery) => this.accept(delivery),
    });
    this.cancellations = this.subscribe(nats.names.toolCancel(executorId), (message) => this.cancel(message));
    this.directCalls = this.subscribe(nats.names.toolAsk(executorId), (message) => this.acceptPastQueue(message));
    this.offReconnect = nats.onReconnect(() => this.reclaimRunning());
    this.inProgressTimer = setInterval(() => this.acknowledgeInProgress(), ackWaitMs / 3);
  }

  start(): void {
    this.deliveries.start();
  }

  /** How many calls have a slot, and how many wait for one. */
  get load(): { running: number; waiting: number } {
    return { running: this.slots.inUse, waiting: this.slots.waiting };
  }

  /** Why no calls arrive, in one sentence for people. */
  get problem(): string | undefined {
    return this.deliveries.isLost
      ? 'NATS does not deliver its tool calls. Their consumer is being replaced.'
      : undefined;
  }

  /** Starts no more calls, lets running calls finish within `graceMs`, then aborts the rest with `reason` and awaits their replies. */
  async close({ graceMs, reason }: { graceMs: number; reason: Error }): Promise<void> {
    this.directCalls.unsubscribe();
    this.slots.close();
    await this.deliveries.stop();
    await Promise.race([this.idle(), sleep(graceMs, undefined, { ref: false })]);
    this.closing = true;
    for (const { abort } of this.running.values()) abort.abort(reason);
    await this.idle();
    this.cancellations.unsubscribe();
    this.offReconnect();
    clearInterval(this.inProgressTimer);
  }

  private async idle(): Promise<void> {
    await Promise.all(this.work);
  }

  private subscribe(subject: string, receive: (message: Msg) => void): Subscription {
    const { nats, executorId } = this.options;
    return nats.connection.subscribe(subject, {
      callback: (error, message) => {
        if (error) nats.log.error({ executorId, subject, error }, 'tool subscription ended');
        else receive(message);
      },
    });
  }

  private accept(delivery: CallDelivery): void {
    const call = readReceived(dispatchedCall, delivery, this.options.nats.log);
    if (!call) {
      delivery.neverRedeliver();
      return;
    }

    const known = this.running.get(call.call_id);
    if (!known) this.acceptNew(call, delivery);
    else if (known.key.attempt === call.attempt) known.deliveries.push(delivery);
    else delivery.redeliverIn(retryMs); // its worker has given up the earlier attempt, which is being cancelled
  }

  private acceptNew(call: DispatchedCall, delivery: CallDelivery): void {
    const leaveBacklog = this.backlog.hold(toAccount(call), delivery.bytes);
    if (leaveBacklog) this.begin(call, { deliveries: [delivery], runsUnclaimed: false, leaveBacklog });
    else delivery.redeliverIn(Math.min(2 ** delivery.deliveryCount * 500, longestRedeliveryMs));
  }

  private acceptPastQueue(message: Msg): void {
    const call = readReceived(dispatchedCall, message, this.options.nats.log);
    if (!call || this.running.has(call.call_id)) return;
    const leaveBacklog = this.backlog.hold(toAccount(call), message.data.length);
    if (!leaveBacklog) return; // its worker finds no record of it, and sends it through the queue
    const unclaimed = runsUnclaimed(call) && this.continuity.isUnbroken();
    this.begin(call, { deliveries: [], runsUnclaimed: unclaimed, leaveBacklog });
  }

  private begin(call: DispatchedCall, arrival: Arrival): void {
    const running: RunningCall = {
      key: toKey(call),
      hasBegun: false,
      claimant: nuid.next(),
      arrivedAt: performance.now(),
      abort: new AbortController(),
      store: call.store ?? this.options.streams.store,
      ...arrival,
    };
    this.running.set(call.call_id, running);
    const work = this.complete(call, running).finally(() => {
      running.leaveBacklog();
      this.running.delete(call.call_id);
      this.work.delete(work);
    });
    this.work.add(work);
  }

  private async complete(call: DispatchedCall, running: RunningCall): Promise<void> {
    const { log } = this.options.nats;
    try {
      const reply = await this.inSlot(call, running);
      if (reply && !(running.runsUnclaimed && this.answers.sendUnconfirmed(running.key, reply)))
        await this.retry(() => this.answers.store(running.key, reply));
      this.deliveries.acknowledge(running.deliveries);
    } catch (error) {
      // This process is closing, before the call had a slot or while NATS is away. It stays in the queue for the next process.
      log.warn({ ...running.key, error }, 'tool call left without a reply');
    }
  }

  private inSlot(call: DispatchedCall, running: RunningCall): Promise<ToolReply | undefined> {
    const user = { account: toAccount(call), thread: call.thread_id };
    return this.slots.run(user, running.abort.signal, () => {
      running.hasBegun = true;
      running.leaveBacklog();
      return this.attempts.replyTo(call, running);
    });
  }

  /** Retries until JetStream answers; rejects when this process is closing while NATS is away. */
  private async retry<Answer>(request: () => Promise<Answer>): Promise<Answer> {
    for (;;) {
      try {
        return await request();
      } catch (error) {
        if (isTooLarge(error) || (this.closing && !this.options.nats.connected)) throw error;
        await sleep(retryMs);
      }
    }
  }

  private cancel(message: Msg): void {
    const cancellation = readReceived(toolCancel, message, this.options.nats.log);
    if (!cancellation) return;
    const running = this.running.get(cancellation.call_id);
    if (running?.key.attempt === cancellation.attempt) running.abort.abort();
    else if (runsUnclaimed(cancellation)) this.withdraw(toKey(cancellation));
  }

  /** The call does not run here, but may be in transit, so from now on calls are claimed first. The worker repeats a cancellation. */
  private withdraw(key: CallKey): void {
    if (this.answers.repeat(key)) return;
    this.continuity.restart();
    this.records.withdraw(key).catch((error: unknown) => {
      this.options.nats.log.warn({ ...key, error }, 'tool call could not be withdrawn');
    });
  }

  private acknowledgeInProgress(): void {
    if (!this.options.nats.connected) return;
    for (const { deliveries } of this.running.values())
      deliveries.forEach((delivery) => delivery.acknowledgeInProgress());
  }

  /** A server that lost its store gets the claims of running calls again, or their workers would take them for lost. */
  private reclaimRunning(): void {
    for (const { key, claimant, hasBegun } of this.running.values()) {
      if (!hasBegun) continue;
      this.records.claim(key, claimant).catch((error: unknown) => {
        this.options.nats.log.warn({ ...key, error }, 'running tool call could not be claimed again');
      });
    }
  }
}

/**
 * Whether an executor has been subscribed without a break for longer than a worker repeats a cancellation. Then it has
 * received every cancellation that was sent before a call arrives: messages of a worker arrive in order, unless a
 * connection was lost.
 */
export class SubscriptionContinuity {
  private sinceMs = performance.now();
  private losses: number;

  constructor(
    private readonly nats: NatsLink,
    private readonly longEnoughMs: number,
  ) {
    this.losses = nats.losses;
  }

  /** A connection that was lost since the last call starts the time again. */
  isUnbroken(): boolean {
    if (this.losses !== this.nats.losses) this.restart();
    return this.nats.connected && performance.now() - this.sinceMs > this.longEnoughMs;
  }

  /** Starts the time again. */
  restart(): void {
    this.losses = this.nats.losses;
    this.sinceMs = performance.now();
  }
}

const mebibyte = 1024 * 1024;

const defaultBounds = {
  account: { calls: 2_000, bytes: 16 * mebibyte },
  all: { calls: 10_000, bytes: 64 * mebibyte },
};
type Bounds = typeof defaultBounds;

interface Held {
  calls: number;
  bytes: number;
}

/**
 * Bounds the calls that wait for a slot in an executor's memory, for each account and for all together. One call of each
 * account is always accepted, so that no account can use up the capacity of the others.
 */
export class CallBacklog {
  private readonly accounts = new Map<string, Held>();
  private readonly all: Held = { calls: 0, bytes: 0 };

  constructor(private readonly bounds: Bounds = defaultBounds) {}

  /** Returns a function that releases the call, at most once; undefined where a bound is reached. */
  hold(account: string, bytes: number): (() => void) | undefined {
    const held = this.accounts.get(account) ?? { calls: 0, bytes: 0 };
    const { bounds } = this;
    const isWithinBounds = fits(held, bytes, bounds.account) && fits(this.all, bytes, bounds.all);
    if (held.calls > 0 && !isWithinBounds) return undefined;

    this.accounts.set(account, held);
    change([held, this.all], { calls: 1, bytes });
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      change([held, this.all], { calls: -1, bytes: -bytes });
      if (held.calls === 0) this.accounts.delete(account);
    };
  }
}

const fits = (held: Held, bytes: number, bound: Held): boolean =>
  held.calls < bound.calls && held.bytes + bytes <= bound.bytes;

function change(counters: readonly Held[], by: Held): void {
  for (const counter of counters) {
    counter.calls += by.calls;
    counter.bytes += by.bytes;
  }
}
