import { toFailedResult } from '@rondo/contract';
import type { CallKey } from '../../connection/subjects';
import { type CallRecords, isTooLarge } from '../call-records';
import { type DispatchedCall, type ToolReply, toAnswer, toKey, runsUnclaimed } from '../wire-format';

/** A pure call that took no longer is cheaper to run again than to store, in the rare case that its answer is lost. */
const quickMs = 20;
/** The longest answer that is kept in memory. */
const shortCharacters = 16_000;
const keptCharacters = 4_000_000;

/** Sends the answers of calls to the worker that holds the run now, and keeps them for a later holder where that is worth it. */
export class CallAnswers {
  private readonly recent = new RecentAnswers();

  constructor(private readonly records: CallRecords) {}

  /** Rejects when JetStream cannot be reached; repeating it is safe. */
  async store(key: CallKey, reply: ToolReply): Promise<void> {
    try {
      await this.records.storeReply(key, reply);
    } catch (error) {
      if (!isTooLarge(error)) throw error;
      await this.records.storeReply(key, withoutResult(reply));
    }
  }

  /** For a call that may run again when its answer is lost: not acknowledged. False when the answer cannot be sent. */
  sendUnconfirmed(key: CallKey, reply: ToolReply): boolean {
    const text = JSON.stringify(reply);
    const isCheap = reply.how === 'answered' && reply.duration_ms <= quickMs && text.length <= shortCharacters;
    if (!isCheap) return this.records.storeReplyUnconfirmed(key, text);

    this.recent.keep(key, text);
    return this.records.sendReply(key, text);
  }

  /** Sends an answer again that was kept in memory. False when there is none, or it cannot be sent. */
  repeat(key: CallKey): boolean {
    const text = this.recent.find(key);
    return text !== undefined && this.records.sendReply(key, text);
  }

  /**
   * An earlier answer to the same call, so that it is not run again: of an earlier attempt that was answered after its
   * worker had given it up, or of a delivery past the queue that also came through the queue.
   */
  async earlierAnswer(call: DispatchedCall): Promise<ToolReply | undefined> {
    if (runsUnclaimed(call)) return this.records.reply(toKey(call));
    for (let attempt = call.attempt - 1; attempt > 0; attempt -= 1) {
      const reply = await this.records.reply({ ...toKey(call), attempt });
      const how = reply && toAnswer(reply).how;
      if (how === 'answered') return reply;
      if (how === 'calls') return undefined; // the program goes on from there
    }
    return undefined;
  }
}

/** The newest answers that are stored nowhere else, up to a bound. A forgotten one is computed again. */
export class RecentAnswers {
  private readonly answers = new Map<string, string>();
  private length = 0;

  keep(key: CallKey, json: string): void {
    if (this.find(key) !== undefined) return;
    this.answers.set(toName(key), json);
    this.length += json.length;
    for (const [name, { length }] of this.answers) {
      if (this.length <= keptCharacters) return;
      this.answers.delete(name);
      this.length -= length;
    }
  }

  /** The answer as JSON. */
  find(key: CallKey): string | undefined {
    return this.answers.get(toName(key));
  }
}

const toName = ({ callId, attempt }: CallKey): string => `${callId}.${attempt}`;

function withoutResult(reply: ToolReply): ToolReply {
  const duration_ms = reply.how === 'answered' ? reply.duration_ms : 0;
  return { how: 'answered', result: toFailedResult('The result of the tool is too large to be sent.'), duration_ms };
}
