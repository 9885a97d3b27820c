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
