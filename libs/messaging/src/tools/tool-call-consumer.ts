import { setTimeout as sleep } from 'node:timers/promises';
import { type Msg, type Subscription, nuid } from 'nats';
import type { NatsLink } from '../nats/nats-link';
import { received } from '../nats/received';
import type { CallKey } from '../nats/subjects';
import { Attention } from './attention';
import { CallAnswers } from './call-answers';
import { CallDeliveries } from './call-deliveries';
import type { CallDelivery } from './call-delivery';
import { CallRecords, isTooLarge, withdrawn } from './call-records';
import { Room } from './room';
import { type DispatchedCall, type ToolReply, dispatchedCall, keyOf, runsUntaken, toolCancel } from './tool-wire';

export interface CallContext {
  /** Aborted when the run is stopped, or by `close` with its reason. */
  readonly signal: AbortSignal;
  /** Shows what the tool prints to whoever watches; may be lost. */
  readonly output: (text: string, channel?: 'stdout' | 'stderr') => void;
}

export interface ToolCallConsumerOptions {
  readonly nats: NatsLink;
  /** Unique among living executors, and the same after a restart. */
  readonly executorId: string;
  readonly concurrency: number;
  /** Does the work, unless it is aborted already. What goes wrong belongs into the reply; a rejection becomes `unknown`. */
  readonly handle: (call: DispatchedCall, context: CallContext) => Promise<ToolReply>;
  /** After this long without a sign of life, NATS delivers a call again. */
  readonly ackWaitMs?: number;
}

interface RunningCall {
  readonly key: CallKey;
  /** It came past the queue, is pure, and nobody can have called it off unheard. */
  readonly isUntaken: boolean;
  /** Who we are for this call; a new name each time a call is taken up. */
  readonly taker: string;
  readonly abort: AbortController;
  /** What the queue sent of it: nothing yet, where it came past the queue. */
  readonly deliveries: CallDelivery[];
  /** What it was sent into; null where that is not known. See ToolStreams.store. */
  readonly store: string | null;
}

const usualAckWaitMs = 15_000;
const askAgainMs = 500;

/**
 * The executor's end of tool calls. An attempt is taken before it is run, and only the first who takes it gets it, so
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
  private readonly room: Room;
  private readonly attention: Attention;
  private readonly asked: Subscription;
  private readonly cancels: Subscription;
  private readonly offReconnect: () => void;
  private readonly signsOfLife: NodeJS.Timeout;
  private leaving = false;

  constructor(private readonly options: ToolCallConsumerOptions) {
    const { nats, executorId, concurrency, ackWaitMs = usualAckWaitMs } = options;
    this.records = new CallRecords(nats);
    this.answers = new CallAnswers(this.records);
    this.room = new Room(concurrency);
    this.attention = new Attention(nats, ackWaitMs / 3);
    this.deliveries = new CallDeliveries({
      ...{ nats, executorId, concurrency, ackWaitMs },
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

  get runningCalls(): number {
    return this.running.size;
  }

  /** Takes no more calls, gives those in hand their time, then aborts the rest with `reason` and awaits their replies. */
  async close({ graceMs, reason }: { graceMs: number; reason: Error }): Promise<void> {
    this.asked.unsubscribe();
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
    if (!known) this.begin(call, { deliveries: [delivery], isUntaken: false });
    else if (known.key.attempt === call.attempt) known.deliveries.push(delivery);
    else delivery.sendAgainIn(askAgainMs); // nobody waits for the earlier one any more, and it is being ended
  }

  private acceptPastQueue(message: Msg): void {
    const call = received(dispatchedCall, message, this.options.nats.log);
    if (!call || this.running.has(call.call_id)) return;
    this.begin(call, { deliveries: [], isUntaken: runsUntaken(call) && this.attention.isUnbroken() });
  }

  private begin(call: DispatchedCall, how: Pick<RunningCall, 'deliveries' | 'isUntaken'>): void {
    const running = {
      key: keyOf(call),
      taker: nuid.next(),
      abort: new AbortController(),
      store: call.store ?? this.options.nats.toolStreams.store,
      ...how,
    };
    this.running.set(call.call_id, running);
    const work = this.complete(call, running).finally(() => {
      this.running.delete(call.call_id);
      this.work.delete(work);
    });
    this.work.add(work);
  }

  private async complete(call: DispatchedCall, running: RunningCall): Promise<void> {
    const { log } = this.options.nats;
    try {
      const reply = await this.replyTo(call, running);
      if (reply && !(running.isUntaken && this.answers.leave(running.key, reply)))
        await this.insist(() => this.answers.store(running.key, reply));
      this.deliveries.acknowledge(running.deliveries, this.running.size);
    } catch (error) {
      // This process ends while NATS is away. The call stays on the queue, and the next process is asked about it.
      log.warn({ ...running.key, error }, 'tool call left without a reply');
    }
  }

  /** Undefined when nobody waits for one. */
  private async replyTo(call: DispatchedCall, running: RunningCall): Promise<ToolReply | undefined> {
    if (this.answers.repeat(running.key)) return undefined;
    if (running.isUntaken) return this.runInRoom(call, running);

    const taker = await this.insist(() => this.records.take(running.key, running.taker));
    if (taker === withdrawn) return undefined;
    const isFirst = taker === running.taker;
    if (isFirst && this.isFromThere(running))
      return (await this.insist(() => this.answers.before(call))) ?? this.runInRoom(call, running);
    if (await this.insist(() => this.records.reply(running.key))) return undefined;
    return isFirst ? lostTrack : { how: 'unknown', reason: 'The executor died while the tool ran.' };
  }

  /** Only the store that a call was sent into, in the same life of its server, knows whether it was taken back, or taken before. */
  private isFromThere({ store }: RunningCall): boolean {
    return store === null || this.options.nats.toolStreams.remembers(store);
  }

  private runInRoom(call: DispatchedCall, running: RunningCall): Promise<ToolReply> {
    return this.room.for(running.abort.signal, () => this.run(call, running));
  }

  private async run(call: DispatchedCall, { key, abort: { signal } }: RunningCall): Promise<ToolReply> {
    const { handle, nats } = this.options;
    try {
      return await handle(call, {
        signal,
        output: (text, channel) => this.records.show(key, channel ? { text, channel } : { text }),
      });
    } catch (error) {
      nats.log.error({ ...key, error }, 'tool call handler failed');
      return { how: 'unknown', reason: 'The executor failed while the tool ran.' };
    }
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
    else if (runsUntaken(words)) this.callOff(keyOf(words));
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
    for (const { key, taker } of this.running.values()) {
      this.records.take(key, taker).catch((error: unknown) => {
        this.options.nats.log.warn({ ...key, error }, 'running tool call could not be claimed again');
      });
    }
  }
}

const lostTrack: ToolReply = { how: 'unknown', reason: 'NATS was started anew or lost data before the tool ran.' };
