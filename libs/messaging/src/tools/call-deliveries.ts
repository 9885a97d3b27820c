import { setTimeout as sleep } from 'node:timers/promises';
import { AckPolicy, type Consumer, type ConsumerMessages, type JsMsg, NatsError, nanos } from 'nats';
import type { NatsLink } from '../nats/nats-link';

export interface CallDeliveriesOptions {
  readonly nats: NatsLink;
  readonly executorId: string;
  readonly concurrency: number;
  readonly ackWaitMs: number;
  readonly onDelivery: (delivery: JsMsg) => void;
}

const pullForMs = 5_000;
const pullAgainMs = 250;
const consumerNotFound = 10014;

/**
 * Pulls the calls of one executor off the queue, as many at a time as it may work on, and never stops trying. The
 * durable consumer is made anew when the process starts, so that calls which the process before left are delivered at
 * once; who may run them is decided by who took them, not by the consumer's memory.
 */
export class CallDeliveries {
  private stopped = false;
  private consumer: Consumer | undefined;
  private processIsNew = true;
  private batch: ConsumerMessages | undefined;
  private pulling: Promise<void> | undefined;
  private readonly offReconnect: () => void;

  constructor(private readonly options: CallDeliveriesOptions) {
    this.offReconnect = options.nats.onReconnect(() => {
      this.consumer = undefined;
      this.batch?.stop();
    });
  }

  start(): void {
    this.pulling ??= this.pullForever();
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.offReconnect();
    this.batch?.stop();
    await this.pulling;
  }

  private async pullForever(): Promise<void> {
    while (!this.stopped) {
      try {
        await this.pull();
      } catch (error) {
        const { nats, executorId } = this.options;
        this.consumer = undefined;
        if (nats.connected) nats.log.warn({ executorId, error }, 'tool calls could not be pulled, trying again');
        await sleep(pullAgainMs);
      }
    }
  }

  private async pull(): Promise<void> {
    this.consumer ??= await this.makeConsumer();
    const batch = await this.consumer.fetch({ max_messages: this.options.concurrency, expires: pullForMs });
    this.batch = batch;
    if (this.stopped) batch.stop();
    let delivered = 0;
    for await (const delivery of batch) {
      delivered += 1;
      this.options.onDelivery(delivery);
    }
    if (delivered === 0) this.consumer = undefined; // perhaps it is gone: looks again, while there is time to
  }

  private async makeConsumer(): Promise<Consumer> {
    const { nats, executorId, concurrency, ackWaitMs } = this.options;
    const { stream, of } = nats.names.toolCalls;
    await nats.toolStreams.ensure();
    const { consumers } = await nats.toolStreams.manager;
    if (this.processIsNew) await consumers.delete(stream, executorId).catch(unlessMissing);
    await consumers.add(stream, {
      durable_name: executorId,
      filter_subject: of(executorId),
      ack_policy: AckPolicy.Explicit,
      ack_wait: nanos(ackWaitMs),
      max_deliver: -1,
      max_ack_pending: concurrency,
    });
    this.processIsNew = false;
    return nats.toolStreams.jetstream.consumers.get(stream, executorId);
  }
}

function unlessMissing(error: unknown): void {
  if (!(error instanceof NatsError && error.api_error?.err_code === consumerNotFound)) throw error;
}
