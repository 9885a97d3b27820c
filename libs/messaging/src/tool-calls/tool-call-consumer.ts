import { setTimeout as sleep } from 'node:timers/promises';
import { type Msg, type Subscription, nuid } from 'nats';
import type { NatsLink } from '../connection/nats-link';
import { received } from '../connection/received';
import type { CallKey } from '../connection/subjects';
import { SubscriptionContinuity } from './subscription-continuity';
import { CallAnswers } from './call-answers';
import { CallAttempts, type HandleCall, type RunningCall } from './call-attempts';
import { CallBacklog } from './call-backlog';
import { CallDeliveries } from './call-deliveries';
import type { CallDelivery } from './call-delivery';
import { CallRecords, isTooLarge } from './call-records';
import { FairSlots, type SlotLimits } from './fair-slots';
import type { ToolStreams } from './tool-streams';
import {
  type DispatchedCall,
  type ToolReply,
  accountOf,
  dispatchedCall,
  keyOf,
  runsUnclaimed,
  toolCancel,
} from './tool-wire';

export interface ToolCallConsumerOptions {
  readonly nats: NatsLink;
  readonly streams: ToolStreams;
  /** Unique among living executors, and the same after a restart. */
  readonly executorId: string;
  /** How many calls run at the same time. */
  readonly slots: SlotLimits;
  readonly handle: HandleCall;
  /** After this long without a sign of life, NATS delivers a call again. */
  readonly ackWaitMs?: number;
}

type Arrival = Pick<RunningCall, 'deliveries' | 'isUntaken' | 'leaveBacklog'>;

const usualAckWaitMs = 15_000;
const askAgainMs = 500;
const longestPauseMs = 30_000;

/**
 * The executor's end of tool calls. Each waits for a slot first; while it waits, nothing says that anybody took it, so it
 * can be withdrawn, and is left to the next process when this one ends. Then an attempt is taken before it is run, and only the first who takes it gets it, so
 * it runs at most once, whatever NATS delivers and whoever died in between (I5, R25): whether there is another one, the
 * ledger decides. Two attempts of a call never run at the same time. A reply is stored before the call leaves the queue.
 * A pure call needs no such care: it comes past the queue at first, and runs untaken where nobody can have called it off
 * unheard.
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
  private readonly attention: SubscriptionContinuity;
  private readonly asked: Subscription;
  private readonly cancels: Subscription;
  private readonly offReconnect: () => void;
  private readonly signsOfLife: NodeJS.Timeout;
  private leaving = false;

  constructor(private readonly options: ToolCallConsumerOptions) {
    const { nats, streams, executorId, slots, ackWaitMs = usualAckWaitMs } = options;
    this.records = new CallRecords(nats, streams, executorId);
    this.answers = new CallAnswers(this.records);
    this.attempts = new CallAttempts({
      ...{ log: nats.log, streams, records: this.records, answers: this.answers, handle: options.handle },
      insist: (question) => this.insist(question),
    });
    this.slots = new FairSlots(slots);
    this.attention = new SubscriptionContinuity(nats, ackWaitMs / 3);
    this.deliveries = new CallDeliveries({
      ...{ nats, streams, executorId, ackWaitMs },
      atOnce: slots.total,
      onDelivery: (delivery) => this.accept(delivery),
    });
    this.cancels = this.listen(nats.names.toolCancel(executorId), (message) => this.cancel(message));
    this.asked = this.listen(nats.names.toolAsk(executorId), (message) => this.acceptPastQueue(message));
    this.offReconnect = nats.onReconnect(() => this.claimRunning());
    this.signsOfLife = setInterval(() => this.showLife(), ackWaitMs / 3);
  }

  start(): void {
    this.deliveries.start();
  }

  /** Calls that have a slot, and calls that wait for one. */
  get load(): { running: number; waiting: number } {
    return { running: this.slots.inUse, waiting: this.slots.waiting };
  }

  /** Begins no more calls, gives those that run their time, then aborts the rest with `reason` and awaits their replies. */
  async close({ graceMs, reason }: { graceMs: number; reason: Error }): Promise<void> {
    this.asked.unsubscribe();
    this.slots.close();
    await this.deliveries.stop();
    await Promise.race([this.idle(), sleep(graceMs, undefined, { ref: false })]);
    this.leaving = true;
    for (const { abort } of this.running.values()) abort.abort(reason);
    await this.idle();
    this.cancels.unsubscribe();
    this.offReconnect();
    clearInterval(this.signsOfLife);
  }

  private async idle(): Promise<void> {
    await Promise.all(this.work);
  }

  private listen(subject: string, hear: (message: Msg) => void): Subscription {
    const { nats, executorId } = this.options;
    return nats.connection.subscribe(subject, {
      callback: (error, message) => {
        if (error) nats.log.error({ executorId, subject, error }, 'tool subscription ended');
        else hear(message);
      },
    });
  }

  private accept(delivery: CallDelivery): void {
    const call = received(dispatchedCall, delivery, this.options.nats.log);
    if (!call) {
      delivery.neverSendAgain();
      return;
    }

    const known = this.running.get(call.call_id);
    if (!known) this.acceptNew(call, delivery);
    else if (known.key.attempt === call.attempt) known.deliveries.push(delivery);
    else delivery.sendAgainIn(askAgainMs); // nobody waits for the earlier one any more, and it is being ended
  }

  private acceptNew(call: DispatchedCall, delivery: CallDelivery): void {
    const leaveBacklog = this.backlog.hold(accountOf(call), delivery.bytes);
    if (leaveBacklog) this.begin(call, { deliveries: [delivery], isUntaken: false, leaveBacklog });
    else delivery.sendAgainIn(Math.min(2 ** delivery.timesSent * 500, longestPauseMs));
  }

  private acceptPastQueue(message: Msg): void {
    const call = received(dispatchedCall, message, this.options.nats.log);
    if (!call || this.running.has(call.call_id)) return;
    const leaveBacklog = this.backlog.hold(accountOf(call), message.data.length);
    if (!leaveBacklog) return; // its worker misses it, and sends it through the queue
    this.begin(call, { deliveries: [], isUntaken: runsUnclaimed(call) && this.attention.isUnbroken(), leaveBacklog });
  }

  private begin(call: DispatchedCall, how: Arrival): void {
    const running: RunningCall = {
      key: keyOf(call),
      hasBegun: false,
      taker: nuid.next(),
      abort: new AbortController(),
      store: call.store ?? this.options.streams.store,
      ...how,
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
      if (reply && !(running.isUntaken && this.answers.leave(running.key, reply)))
        await this.insist(() => this.answers.store(running.key, reply));
      this.deliveries.acknowledge(running.deliveries);
    } catch (error) {
      // This process ends, before the call had its turn or while NATS is away. It stays on the queue for the next one.
      log.warn({ ...running.key, error }, 'tool call left without a reply');
    }
  }

  private inSlot(call: DispatchedCall, running: RunningCall): Promise<ToolReply | undefined> {
    const user = { account: accountOf(call), thread: call.thread_id };
    return this.slots.run(user, running.abort.signal, () => {
      running.hasBegun = true;
      running.leaveBacklog();
      return this.attempts.replyTo(call, running);
    });
  }

  /** Asks until JetStream answers, or there is nobody to ask and no time left. */
  private async insist<Answer>(question: () => Promise<Answer>): Promise<Answer> {
    for (;;) {
      try {
        return await question();
      } catch (error) {
        if (isTooLarge(error) || (this.leaving && !this.options.nats.connected)) throw error;
        await sleep(askAgainMs);
      }
    }
  }

  private cancel(message: Msg): void {
    const words = received(toolCancel, message, this.options.nats.log);
    if (!words) return;
    const running = this.running.get(words.call_id);
    if (running?.key.attempt === words.attempt) running.abort.abort();
    else if (runsUnclaimed(words)) this.callOff(keyOf(words));
  }

  /** It does not run here. It may be on its way, so from now on calls are taken before they run. Who asks, asks again. */
  private callOff(key: CallKey): void {
    if (this.answers.repeat(key)) return;
    this.attention.lapse();
    this.records.callOff(key).catch((error: unknown) => {
      this.options.nats.log.warn({ ...key, error }, 'tool call could not be called off');
    });
  }

  private showLife(): void {
    if (!this.options.nats.connected) return;
    for (const { deliveries } of this.running.values()) deliveries.forEach((delivery) => delivery.showLife());
  }

  /** A server that lost its store must learn again who has what, or the calls would be taken for lost. */
  private claimRunning(): void {
    for (const { key, taker, hasBegun } of this.running.values()) {
      if (!hasBegun) continue;
      this.records.take(key, taker).catch((error: unknown) => {
        this.options.nats.log.warn({ ...key, error }, 'running tool call could not be claimed again');
      });
    }
  }
}
