import type { DueDeliveries, DueDelivery, FailedAttempt } from '@rondo/persistence';
import type { Attempt, WebhookSender } from './webhook-sender';

const minute = 60_000;
const hour = 60 * minute;

/** The pauses after failed attempts, at least. Together 26 hours: an endpoint may be away for a day. */
export const retryPausesMs = [
  ...[5_000, 30_000, 2 * minute, 10 * minute, 30 * minute],
  ...[hour, 2 * hour, 4 * hour, 6 * hour, 12 * hour],
];

/** A fifth is added by chance, so that what failed together is not sent together again. */
const jitter = 0.2;

/** The pause after the attempt with this number, from 1; undefined after the last one. `random` is in [0, 1). */
export function retryDelayMs(attempt: number, random: number): number | undefined {
  const pauseMs = retryPausesMs[attempt - 1];
  return pauseMs === undefined ? undefined : Math.round(pauseMs * (1 + jitter * random));
}

interface DispatcherParts {
  readonly due: Pick<DueDeliveries, 'claim' | 'recordDelivery' | 'retry' | 'giveUp' | 'release' | 'forget'>;
  readonly sender: Pick<WebhookSender, 'send'>;
  /** In [0, 1). */
  readonly random: () => number;
  readonly onError: (error: unknown) => void;
  readonly onGivenUp: (delivery: DueDelivery, error: string) => void;
}

/** Attempts that one gateway makes at once. An endpoint that hangs occupies its own. */
const most = { ofEndpoint: 8, together: 400 };

/** Attempts of an account that are begun in one step, and that it may always have. */
const leastOfAccount = 8;

/**
 * Makes the attempts that are due. What it holds is in Postgres with a time limit, so a gateway that is killed loses nothing: the
 * event is sent again, under the same id.
 */
export class WebhookDispatcher {
  private readonly underWay = new Map<Promise<void>, DueDelivery>();
  private readonly closing = new AbortController();
  private current: Promise<void> | undefined;
  private again = false;

  constructor(private readonly parts: DispatcherParts) {}

  /** Resolves when nothing more is due that could be begun now. Overlapping calls share one pass. */
  pass(): Promise<void> {
    this.again = true;
    this.current ??= this.passes().finally(() => (this.current = undefined));
    return this.current;
  }

  /** Breaks off what is under way, and leaves it to others at once. */
  async close(): Promise<void> {
    this.closing.abort();
    await this.current?.catch(() => undefined); // the caller of the pass has it
    await Promise.all(this.underWay.keys());
  }

  private async passes(): Promise<void> {
    while (this.again) {
      this.again = false;
      let seen = 1;
      while (seen > 0 && this.mayBegin()) seen = await this.begin();
    }
  }

  private mayBegin(): boolean {
    return !this.closing.signal.aborted && this.underWay.size < most.together;
  }

  private async begin(): Promise<number> {
    const { seen, claimed } = await this.parts.due.claim({
      busy: { endpoints: this.busyEndpoints(), accounts: this.busyAccounts() },
      most: { ofEndpoint: most.ofEndpoint, ofAccount: leastOfAccount },
    });
    for (const delivery of claimed) this.follow(delivery);
    return seen;
  }

  private busyEndpoints(): string[] {
    return this.countBy('endpointId')
      .filter(([, count]) => count >= most.ofEndpoint)
      .map(([endpoint]) => endpoint);
  }

  /** An account has at most half of the places that the others leave it, so that some are left for the next one. */
  private busyAccounts(): string[] {
    const placesLeft = (own: number) => most.together - (this.underWay.size - own);
    return this.countBy('accountId')
      .filter(([, count]) => count >= leastOfAccount && count + leastOfAccount > placesLeft(count) / 2)
      .map(([account]) => account);
  }

  private countBy(holder: 'endpointId' | 'accountId'): [string, number][] {
    const counts = new Map<string, number>();
    for (const delivery of this.underWay.values())
      counts.set(delivery[holder], (counts.get(delivery[holder]) ?? 0) + 1);
    return [...counts];
  }

  private follow(delivery: DueDelivery): void {
    const work: Promise<void> = this.attempt(delivery)
      .catch(this.parts.onError) // its time limit in Postgres passes, and it is due again
      .finally(() => {
        this.underWay.delete(work);
        if (!this.closing.signal.aborted) this.pass().catch(this.parts.onError);
      });
    this.underWay.set(work, delivery);
  }

  private async attempt(delivery: DueDelivery): Promise<void> {
    const { due, sender } = this.parts;
    const { endpoint } = delivery;
    if (!endpoint) return due.forget(delivery);
    if (endpoint.isPaused)
      return due.giveUp(delivery, { error: 'The endpoint was paused.', responseStatus: null }, false);

    const attempt = await sender.send(delivery, endpoint, this.closing.signal);
    if (attempt === 'aborted') return due.release(delivery);
    return this.settle(delivery, attempt);
  }

  private async settle(delivery: DueDelivery, attempt: Attempt): Promise<void> {
    const { due, random } = this.parts;
    if (attempt.how === 'delivered') return due.recordDelivery(delivery, attempt.responseStatus);
    const delayMs = retryDelayMs(delivery.attempts + 1, random());
    if (attempt.how === 'failed' && delayMs !== undefined) return due.retry(delivery, attempt, delayMs);
    return this.giveUp(delivery, attempt);
  }

  private async giveUp(delivery: DueDelivery, failed: FailedAttempt): Promise<void> {
    await this.parts.due.giveUp(delivery, failed);
    this.parts.onGivenUp(delivery, failed.error);
  }
}
