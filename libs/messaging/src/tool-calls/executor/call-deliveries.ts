import { AckPolicy, type Msg, NatsError, type Subscription, nanos } from 'nats';
import type { NatsLink } from '../../connection/nats-link';
import type { ToolStreams } from '../tool-streams';

const acknowledgements = {
  done: Buffer.from('+ACK'),
  inProgress: Buffer.from('+WPI'),
  never: Buffer.from('+TERM'),
};

/** `$JS.ACK.stream.consumer.times.…`; a longer one has the domain and the account before the stream. */
const shortReplyTokens = 9;

/** One delivery of a call by the queue, and its acknowledgements. NATS does not confirm an acknowledgement. */
export class CallDelivery {
  constructor(private readonly message: Msg) {}

  get subject(): string {
    return this.message.subject;
  }

  get headers(): Msg['headers'] {
    return this.message.headers;
  }

  get bytes(): number {
    return this.message.data.length;
  }

  /** 1 for the first delivery. */
  get deliveryCount(): number {
    return this.readToken(4) || 1;
  }

  /** When the queue stored the call, by the clock of NATS. */
  get storedAtMs(): number {
    return this.readToken(7) / 1_000_000;
  }

  private readToken(position: number): number {
    const tokens = this.message.reply?.split('.') ?? [];
    return Number(tokens[tokens.length > shortReplyTokens ? position + 2 : position]) || 0;
  }

  string(): string {
    return this.message.string();
  }

  /** The call is answered, and leaves the queue. */
  acknowledge(): void {
    this.message.respond(acknowledgements.done);
  }

  /** The call is running, and is not to be delivered again yet. */
  acknowledgeInProgress(): void {
    this.message.respond(acknowledgements.inProgress);
  }

  redeliverIn(delayMs: number): void {
    this.message.respond(Buffer.from(`-NAK {"delay": ${delayMs * 1_000_000}}`));
  }

  neverRedeliver(): void {
    this.message.respond(acknowledgements.never);
  }
}

export interface CallDeliveriesOptions {
  readonly nats: NatsLink;
  readonly streams: ToolStreams;
  readonly executorId: string;
  /** How many calls one pull requests. */
  readonly batch: number;
  readonly ackWaitMs: number;
  readonly onDelivery: (delivery: CallDelivery) => void;
}

const pullForMs = 10_000;
const heartbeatMs = 2_000;
const silenceMs = 5_000;
const retryAfterMs = 250;
const acknowledgeMs = { after: 25, within: 50 };
const consumerNotFound = 10014;
/** So often the consumer is only created; then it is taken for one that its cluster has lost. */
const attemptsBeforeReplacement = 3;
const status = { idle: 100, expired: 408 };

/**
 * Pulls the calls of one executor from the queue, and retries without limit. It pulls all calls, however many wait for a
 * slot: calls that wait for their account's slots must not delay the calls of other accounts. The durable consumer is
 * created anew when the process starts, so that calls which the previous process left are delivered at once; claims decide
 * which process may run them, not the state of the consumer. For the same reason a consumer that stays silent is replaced: when
 * servers of a cluster die one after the other, it can be left without a leader for ever, beside a stream that has one.
 */
export class CallDeliveries {
  private readonly inbox: string;
  private readonly answered: CallDelivery[] = [];
  private subscription: Subscription | undefined;
  private offReconnect: () => void = () => undefined;
  private pulling: Promise<void> | undefined;
  private processIsNew = true;
  /** How often the consumer was to be created since it last delivered or sent a heartbeat, while NATS answered. */
  private attempts = 0;
  private stopped = false;
  private receivedAtMs = -Infinity;
  private endPause: (withinMs: number) => void = () => undefined;
  private lastPull = 0;
  private lastWarning = '';
  private outstanding = 0;

  constructor(private readonly options: CallDeliveriesOptions) {
    this.inbox = options.nats.newInbox();
  }

  start(): void {
    const { nats, executorId } = this.options;
    this.subscription = nats.connection.subscribe(`${this.inbox}.*`, {
      callback: (error, message) => {
        if (error) nats.log.error({ executorId, error }, 'tool call subscription ended');
        else this.receive(message);
      },
    });
    this.offReconnect = nats.onReconnect(() => this.loseConsumer());
    this.pulling = this.keepPulling();
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.endPause(0);
    this.offReconnect();
    this.subscription?.unsubscribe();
    await this.pulling;
  }

  /**
   * Batched: nothing waits for an acknowledgement, and many at a time cost NATS less, above all while the queue is not
   * empty. A lost one causes one more delivery of an answered call.
   */
  acknowledge(deliveries: readonly CallDelivery[]): void {
    const isFirst = this.answered.length === 0;
    this.answered.push(...deliveries);
    if (!isFirst || this.answered.length === 0) return;
    const now = performance.now();
    const { writes } = this.options.nats;
    writes.between(now + acknowledgeMs.after, now + acknowledgeMs.within, () => this.acknowledgeAll());
  }

  /** True for a consumer that is silent although it was created again and again. */
  get isLost(): boolean {
    return this.attempts > attemptsBeforeReplacement;
  }

  private acknowledgeAll(): void {
    for (const delivery of this.answered) delivery.acknowledge();
    this.answered.length = 0;
  }

  /** A call has a reply subject; a status of the pull has none. */
  private receive(message: Msg): void {
    this.receivedAtMs = performance.now();
    if (message.reply) {
      this.attempts = 0;
      this.outstanding -= 1;
      this.options.onDelivery(new CallDelivery(message));
      if (this.outstanding === 0) this.pull();
    } else if (message.subject === this.pullInbox) {
      const code = message.headers?.code;
      if (code === status.idle || code === status.expired) this.attempts = 0;
      else this.loseConsumer(); // it no longer exists, for example
      if (code === status.expired) this.pull();
    }
  }

  private pull(): void {
    const { nats, executorId, batch } = this.options;
    this.outstanding = batch;
    this.lastPull += 1;
    const request = { batch, expires: nanos(pullForMs), idle_heartbeat: nanos(heartbeatMs) };
    const subject = `$JS.API.CONSUMER.MSG.NEXT.${nats.names.toolCalls.stream}.${executorId}`;
    const reply = this.pullInbox;
    nats.writes.soon(() => {
      if (nats.connected && !this.stopped) nats.connection.publish(subject, JSON.stringify(request), { reply });
    });
  }

  private get pullInbox(): string {
    return `${this.inbox}.${this.lastPull}`;
  }

  /** NATS sends heartbeats while a pull is open; after a silence the consumer is created if it is missing, and pulls again. */
  private async keepPulling(): Promise<void> {
    while (!this.stopped) {
      try {
        if (performance.now() - this.receivedAtMs > silenceMs) await this.createConsumer();
      } catch (error) {
        this.warnOnce(error);
      }
      await this.pause(Math.max(retryAfterMs, this.receivedAtMs + silenceMs - performance.now()));
    }
  }

  private loseConsumer(): void {
    this.receivedAtMs = -Infinity;
    this.endPause(retryAfterMs);
  }

  private pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      let timer = setTimeout(resolve, ms);
      this.endPause = (withinMs) => {
        clearTimeout(timer);
        timer = setTimeout(resolve, withinMs);
      };
    });
  }

  /** Logs each cause once: it may take a while until a worker creates the stream. */
  private warnOnce(error: unknown): void {
    const { nats, executorId } = this.options;
    const warning = String(error);
    if (nats.connected && warning !== this.lastWarning) {
      nats.log.warn({ executorId, error }, 'tool calls could not be pulled, retrying');
    }
    this.lastWarning = warning;
  }

  private async createConsumer(): Promise<void> {
    const { nats, streams, executorId, ackWaitMs } = this.options;
    const { stream, of } = nats.names.toolCalls;
    await streams.ensure();
    const { consumers } = await streams.manager;
    this.attempts += 1;
    if (this.processIsNew || this.isLost) {
      await consumers.delete(stream, executorId).catch(unlessMissing);
      this.attempts = 1;
    }
    await consumers.add(stream, {
      durable_name: executorId,
      filter_subject: of(executorId),
      ack_policy: AckPolicy.Explicit,
      ack_wait: nanos(ackWaitMs),
      max_deliver: -1,
      max_ack_pending: -1, // unlimited: the stream and the executor's backlog are bounded
    });
    this.processIsNew = false;
    this.lastWarning = '';
    this.receivedAtMs = performance.now();
    this.pull();
  }
}

function unlessMissing(error: unknown): void {
  if (!(error instanceof NatsError && error.api_error?.err_code === consumerNotFound)) throw error;
}
