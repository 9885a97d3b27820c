import { setTimeout as sleep } from 'node:timers/promises';
import { AckPolicy, type Msg, NatsError, type Subscription, nanos } from 'nats';
import type { NatsLink } from '../connection/nats-link';
import { CallDelivery } from './call-delivery';
import type { ToolStreams } from './tool-streams';

export interface CallDeliveriesOptions {
  readonly nats: NatsLink;
  readonly streams: ToolStreams;
  readonly executorId: string;
  /** How many to ask for at a time. */
  readonly atOnce: number;
  readonly ackWaitMs: number;
  readonly onDelivery: (delivery: CallDelivery) => void;
}

const pullForMs = 10_000;
const heartbeatMs = 2_000;
const silenceMs = 5_000;
const lookEveryMs = 250;
const acknowledgeMs = { after: 25, within: 50 };
const consumerNotFound = 10014;
const status = { idle: 100, expired: 408 };

/**
 * Pulls the calls of one executor off the queue, and never stops trying. It takes all there are, whatever it has in hand:
 * calls that wait for their account's slots must not hold back the calls of others. The durable
 * consumer is made anew when the process starts, so that calls which the process before left are delivered at once; who
 * may run them is decided by who took them, not by the consumer's memory.
 */
export class CallDeliveries {
  private readonly inbox: string;
  private readonly answered: CallDelivery[] = [];
  private subscription: Subscription | undefined;
  private offReconnect: () => void = () => undefined;
  private following: Promise<void> | undefined;
  private processIsNew = true;
  private stopped = false;
  private heardAtMs = -Infinity;
  private lastPull = 0;
  private complainedOf = '';
  private wanted = 0;

  constructor(private readonly options: CallDeliveriesOptions) {
    this.inbox = options.nats.newInbox();
  }

  start(): void {
    const { nats, executorId } = this.options;
    this.subscription = nats.connection.subscribe(`${this.inbox}.*`, {
      callback: (error, message) => {
        if (error) nats.log.error({ executorId, error }, 'tool call subscription ended');
        else this.hear(message);
      },
    });
    this.offReconnect = nats.onReconnect(() => (this.heardAtMs = -Infinity));
    this.following = this.follow();
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.offReconnect();
    this.subscription?.unsubscribe();
    await this.following;
  }

  /**
   * Nothing waits for it, and NATS works less for many at a time, above all while its queue does not run empty. A lost one
   * means one more delivery of what has been answered.
   */
  acknowledge(deliveries: readonly CallDelivery[]): void {
    const isFirst = this.answered.length === 0;
    this.answered.push(...deliveries);
    if (!isFirst || this.answered.length === 0) return;
    const now = performance.now();
    const { writes } = this.options.nats;
    writes.between(now + acknowledgeMs.after, now + acknowledgeMs.within, () => this.acknowledgeAll());
  }

  private acknowledgeAll(): void {
    for (const delivery of this.answered) delivery.acknowledge();
    this.answered.length = 0;
  }

  /** A call asks for an answer. What does not is a word about a pull. */
  private hear(message: Msg): void {
    this.heardAtMs = performance.now();
    if (message.reply) {
      this.wanted -= 1;
      this.options.onDelivery(new CallDelivery(message));
      if (this.wanted === 0) this.pull();
    } else if (message.subject === this.pullInbox) {
      const code = message.headers?.code;
      if (code === status.expired) this.pull();
      else if (code !== status.idle) this.heardAtMs = -Infinity; // the consumer is gone, say
    }
  }

  private pull(): void {
    const { nats, executorId, atOnce } = this.options;
    this.wanted = atOnce;
    this.lastPull += 1;
    const wish = { batch: atOnce, expires: nanos(pullForMs), idle_heartbeat: nanos(heartbeatMs) };
    const subject = `$JS.API.CONSUMER.MSG.NEXT.${nats.names.toolCalls.stream}.${executorId}`;
    const reply = this.pullInbox;
    nats.writes.soon(() => {
      if (nats.connected && !this.stopped) nats.connection.publish(subject, JSON.stringify(wish), { reply });
    });
  }

  private get pullInbox(): string {
    return `${this.inbox}.${this.lastPull}`;
  }

  /** NATS lets us hear from it while it has our pull; after a silence we make sure of the consumer, and pull again. */
  private async follow(): Promise<void> {
    while (!this.stopped) {
      try {
        if (performance.now() - this.heardAtMs > silenceMs) await this.makeConsumer();
      } catch (error) {
        this.complain(error);
      }
      await sleep(lookEveryMs);
    }
  }

  /** Once for each thing that is wrong: it may take a while until a worker is there that makes the queue. */
  private complain(error: unknown): void {
    const { nats, executorId } = this.options;
    const words = String(error);
    if (nats.connected && words !== this.complainedOf) {
      nats.log.warn({ executorId, error }, 'tool calls could not be pulled, trying again');
    }
    this.complainedOf = words;
  }

  private async makeConsumer(): Promise<void> {
    const { nats, streams, executorId, ackWaitMs } = this.options;
    const { stream, of } = nats.names.toolCalls;
    await streams.ensure();
    const { consumers } = await streams.manager;
    if (this.processIsNew) await consumers.delete(stream, executorId).catch(unlessMissing);
    await consumers.add(stream, {
      durable_name: executorId,
      filter_subject: of(executorId),
      ack_policy: AckPolicy.Explicit,
      ack_wait: nanos(ackWaitMs),
      max_deliver: -1,
      max_ack_pending: -1, // none: the stream is bounded, and so is what the executor keeps of it
    });
    this.processIsNew = false;
    this.complainedOf = '';
    this.heardAtMs = performance.now();
    this.pull();
  }
}

function unlessMissing(error: unknown): void {
  if (!(error instanceof NatsError && error.api_error?.err_code === consumerNotFound)) throw error;
}
