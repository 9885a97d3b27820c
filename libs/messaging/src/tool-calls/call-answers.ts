import { failedResult } from '@rondo/contract';
import type { CallKey } from '../connection/subjects';
import { type CallRecords, isTooLarge } from './call-records';
import { RecentAnswers } from './recent-answers';
import { type DispatchedCall, type ToolReply, keyOf, runsUnclaimed } from './tool-wire';

/** A pure call that took no longer is sooner run again than its answer is stored for the rare case that it is missed. */
const quickMs = 20;
/** Of an answer that is kept in memory. */
const shortCharacters = 16_000;

/** Tells what came of calls to whoever holds the run now, and keeps it for whoever holds it later, as far as that is worth it. */
export class CallAnswers {
  private readonly recent = new RecentAnswers();

  constructor(private readonly records: CallRecords) {}

  /** Rejects when JetStream cannot be asked; asking again is safe. */
  async store(key: CallKey, reply: ToolReply): Promise<void> {
    try {
      await this.records.store(key, reply);
    } catch (error) {
      if (!isTooLarge(error)) throw error;
      await this.records.store(key, withoutResult(reply));
    }
  }

  /** Of a call that may run again when its answer is lost: nothing confirms it. False when it cannot leave. */
  leave(key: CallKey, reply: ToolReply): boolean {
    const text = JSON.stringify(reply);
    const isCheap = reply.how === 'answered' && reply.duration_ms <= quickMs && text.length <= shortCharacters;
    if (!isCheap) return this.records.storeUnconfirmed(key, text);

    this.recent.keep(key, text);
    return this.records.tellReply(key, text);
  }

  /** Tells once more what was left. False when it is not known here, or cannot leave. */
  repeat(key: CallKey): boolean {
    const text = this.recent.find(key);
    return text !== undefined && this.records.tellReply(key, text);
  }

  /**
   * What was said of it before: of an earlier attempt, when nobody waited for it any more, or of one that came past the
   * queue and then through it. It has been done, so it is not done again.
   */
  async before(call: DispatchedCall): Promise<ToolReply | undefined> {
    if (runsUnclaimed(call)) return this.records.reply(keyOf(call));
    for (let attempt = call.attempt - 1; attempt > 0; attempt -= 1) {
      const reply = await this.records.reply({ ...keyOf(call), attempt });
      if (reply?.how === 'answered') return reply;
    }
    return undefined;
  }
}

function withoutResult(reply: ToolReply): ToolReply {
  const duration_ms = reply.how === 'answered' ? reply.duration_ms : 0;
  return { how: 'answered', result: failedResult('The result of the tool is too large to be sent.'), duration_ms };
}
