import type { NatsLink } from '../../connection/nats-link';
import type { CallCancellation } from './call-cancellation';

type Cancellation = Pick<CallCancellation, 'key' | 'conclude'>;

const retryEveryMs = 2_000;
/** NATS keeps no call for longer. */
const keptForMs = 24 * 60 * 60 * 1_000;
const limit = 1_000;

/**
 * Retries the cancellation of calls whose end was not confirmed within the bound of a stop or a timeout, because NATS or an
 * executor was away: a call in the queue would run when they are back, and a running call would go on. The run may be over
 * by then, so this lives as long as the process. It changes no answer that was given. What is pending when the process ends
 * is dropped, with a log line.
 */
export class PendingCancellations {
  private readonly since = new Map<Cancellation, number>();
  private concluding = false;

  constructor(private readonly nats: Pick<NatsLink, 'connected' | 'connection' | 'onReconnect' | 'log'>) {
    nats.onReconnect(() => void this.concludeAll());
    const timer = setInterval(() => void this.concludeAll(), retryEveryMs).unref();
    void nats.connection.closed().then(() => {
      clearInterval(timer);
      for (const cancellation of this.since.keys()) this.drop(cancellation);
    });
  }

  add(cancellation: Cancellation): void {
    this.since.set(cancellation, performance.now());
    const [oldest] = this.since.keys();
    if (oldest && this.since.size > limit) this.drop(oldest);
  }

  /** One at a time, so that many take longer instead of loading NATS. */
  private async concludeAll(): Promise<void> {
    if (this.concluding || !this.nats.connected) return;
    this.concluding = true;
    for (const [cancellation, sinceMs] of this.since) {
      if (await isConcluded(cancellation)) this.since.delete(cancellation);
      else if (performance.now() - sinceMs > keptForMs) this.drop(cancellation);
    }
    this.concluding = false;
  }

  private drop(cancellation: Cancellation): void {
    this.since.delete(cancellation);
    this.nats.log.warn({ ...cancellation.key }, 'tool call dropped, its end was not confirmed');
  }
}

/** A failed attempt is repeated in the next round. */
const isConcluded = (cancellation: Cancellation): Promise<boolean> => cancellation.conclude().catch(() => false);
