import type { NatsLink } from '../../connection/nats-link';
import type { CallKey } from '../../connection/subjects';
import { type CallRecords, withdrawn } from '../call-records';
import type { ToolStreams } from '../tool-streams';
import { type ToolCancel, toKey, runsUnclaimed } from '../wire-format';

/** Whether a call was sent. `into`: the store it was sent into, where that is known. `isSeen`: a record of it was found there. */
export type Sent = 'no' | { readonly into: string | null; readonly isSeen: boolean };

export interface CallCancellationParts {
  readonly nats: NatsLink;
  readonly streams: ToolStreams;
  /** The records of the executor that hosts the thread. Rejects while the thread is not placed. */
  readonly records: () => Promise<CallRecords>;
}

/** Ends a call from the worker's side: withdraws it if no executor has claimed it, and asks its executor to end it. Idempotent. */
export class CallCancellation {
  private readonly request: ToolCancel;

  constructor(
    private readonly parts: CallCancellationParts,
    { run_id, call_id, attempt, effect_class }: ToolCancel,
    private readonly sent: Sent,
  ) {
    this.request = { run_id, call_id, attempt, ...(effect_class && { effect_class }) }; // without arguments, which may be long
  }

  get key(): CallKey {
    return toKey(this.request);
  }

  /** Asks the executor to end the call. The request may be lost. */
  send(): void {
    this.parts.records().then(
      ({ executorId }) => {
        const { connection, names, connected } = this.parts.nats;
        if (connected) connection.publish(names.toolCancel(executorId), JSON.stringify(this.request));
      },
      () => undefined, // the thread is not placed, so no executor has the call
    );
  }

  /**
   * Resolves true when no executor has run the call or can still run it. Only its executor can confirm this of a call that
   * runs unclaimed; for such a call the mark only keeps later executors from running it.
   */
  async withdraw(): Promise<boolean> {
    return (await this.mark()) && !runsUnclaimed(this.request);
  }

  /**
   * Resolves true when the executor has answered or the call is withdrawn, so that no executor can claim it. An unclaimed
   * run that is still possible then only reads, and is short.
   */
  async conclude(): Promise<boolean> {
    const records = await this.parts.records();
    if (await records.reply(this.key)) return true;
    const isMarked = await this.mark();
    if (!isMarked || runsUnclaimed(this.request)) this.send();
    return isMarked;
  }

  /**
   * Marks the call as withdrawn, which succeeds as long as no executor has claimed it. A store that lost data since the call
   * was sent may have lost a claim, so its answer does not count.
   */
  private async mark(): Promise<boolean> {
    const { streams } = this.parts;
    const records = await this.parts.records();
    await streams.recheck();
    let into = this.sent === 'no' ? null : this.sent.into;
    if (!streams.remembers(into)) {
      into = (await records.readQueued(this.key))?.store ?? null;
      if (!streams.remembers(into)) return false;
    }
    return (await records.claim(this.key, withdrawn)) === withdrawn && streams.remembers(into);
  }
}

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
