import type { NatsLink } from '../connection/nats-link';
import type { CallKey } from '../connection/subjects';
import { type CallRecords, withdrawn } from './call-records';
import type { ToolStreams } from './tool-streams';
import { type ToolCancel, keyOf, runsUnclaimed } from './tool-wire';

/** `into`: the store that we or an earlier holder have sent it into, where that is known. `isSeen`: we have seen it there. */
export type Sent = 'no' | { readonly into: string | null; readonly isSeen: boolean };

export interface CallCancellationParts {
  readonly nats: NatsLink;
  readonly streams: ToolStreams;
  /** Of the executor that hosts the thread. Rejects while the thread has no place. */
  readonly records: () => Promise<CallRecords>;
}

/** How a call is ended from here: nobody may take it any more, and whoever took it is told. All of it may be repeated. */
export class CallCancellation {
  private readonly words: ToolCancel;

  constructor(
    private readonly parts: CallCancellationParts,
    { run_id, call_id, attempt, effect_class }: ToolCancel,
    private readonly sent: Sent,
  ) {
    this.words = { run_id, call_id, attempt, ...(effect_class && { effect_class }) }; // without arguments, which may be long
  }

  get key(): CallKey {
    return keyOf(this.words);
  }

  /** Tells its executor, which may not hear it. */
  tell(): void {
    this.parts.records().then(
      ({ executorId }) => {
        const { connection, names, connected } = this.parts.nats;
        if (connected) connection.publish(names.toolCancel(executorId), JSON.stringify(this.words));
      },
      () => undefined, // no place, nobody to tell
    );
  }

  /**
   * True when nobody has run it, and nobody will. Of a call that runs untaken only its executor can tell, so that the mark
   * just keeps it from executors to come.
   */
  async withdraw(): Promise<boolean> {
    return (await this.mark()) && !runsUnclaimed(this.words);
  }

  /**
   * Tries all there is. True when its executor has had the last word on it, or nobody can take it any more: what may run
   * untaken all the same only reads, and not for long.
   */
  async conclude(): Promise<boolean> {
    const records = await this.parts.records();
    if (await records.reply(this.key)) return true;
    const isMarked = await this.mark();
    if (!isMarked || runsUnclaimed(this.words)) this.tell();
    return isMarked;
  }

  /**
   * Takes the call off every executor's reach, which is possible as long as none has taken it. A store that lost data
   * since the call was sent does not know whether one had.
   */
  private async mark(): Promise<boolean> {
    const { streams } = this.parts;
    const records = await this.parts.records();
    await streams.recheck();
    let into = this.sent === 'no' ? null : this.sent.into;
    if (!streams.remembers(into)) {
      into = (await records.queued(this.key))?.store ?? null;
      if (!streams.remembers(into)) return false;
    }
    return (await records.take(this.key, withdrawn)) === withdrawn && streams.remembers(into);
  }
}
