import type { NatsLink } from '../connection/nats-link';
import type { CallCancellation } from './call-cancellation';

/** A call that its run has done with, though nobody confirmed that it ended. */
type LooseEnd = Pick<CallCancellation, 'key' | 'conclude'>;

const againEveryMs = 2_000;
/** NATS keeps no call for longer. */
const keptForMs = 24 * 60 * 60 * 1_000;
const most = 1_000;

/**
 * Ends what stops and timeouts could not end in their time, because NATS or an executor was away: a call that lies in the
 * queue would run when they are back, and one that runs would go on. Its run may long be over by then, so this lives as
 * long as the process. It changes no answer that was given; and what a process leaves behind, nobody takes up.
 */
export class PendingCancellations {
  private readonly since = new Map<LooseEnd, number>();
  private concluding = false;

  constructor(private readonly nats: Pick<NatsLink, 'connected' | 'connection' | 'onReconnect' | 'log'>) {
    nats.onReconnect(() => void this.concludeAll());
    const timer = setInterval(() => void this.concludeAll(), againEveryMs).unref();
    void nats.connection.closed().then(() => {
      clearInterval(timer);
      for (const end of this.since.keys()) this.leave(end);
    });
  }

  add(end: LooseEnd): void {
    this.since.set(end, performance.now());
    const [oldest] = this.since.keys();
    if (oldest && this.since.size > most) this.leave(oldest);
  }

  /** One after the other, so that many take long rather than much. */
  private async concludeAll(): Promise<void> {
    if (this.concluding || !this.nats.connected) return;
    this.concluding = true;
    for (const [end, sinceMs] of this.since) {
      if (await isConcluded(end)) this.since.delete(end);
      else if (performance.now() - sinceMs > keptForMs) this.leave(end);
    }
    this.concluding = false;
  }

  private leave(end: LooseEnd): void {
    this.since.delete(end);
    this.nats.log.warn({ ...end.key }, 'tool call left, and nobody confirmed that it ended');
  }
}

/** Whoever cannot be asked now is asked in the next round. */
const isConcluded = (end: LooseEnd): Promise<boolean> => end.conclude().catch(() => false);
