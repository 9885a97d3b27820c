import type { Log } from '../../log';
import type { CallKey } from '../../connection/subjects';
import { type CallRecords, withdrawn } from '../call-records';
import type { ToolStreams } from '../tool-streams';
import type { DispatchedCall, ToolReply } from '../wire-format';
import type { CallAnswers } from './call-answers';
import type { CallDelivery } from './call-delivery';

export interface CallContext {
  /** Aborted when the call is cancelled, or by `close` with its reason. */
  readonly signal: AbortSignal;
  /** Sends what the tool prints to the run's subscribers; may be lost. */
  readonly output: (text: string, channel?: 'stdout' | 'stderr') => void;
}

/** Runs the tool, unless the signal is already aborted. A failure belongs into the reply; a rejection becomes `unknown`. */
export type HandleCall = (call: DispatchedCall, context: CallContext) => Promise<ToolReply>;

export interface RunningCall {
  readonly key: CallKey;
  /** It came past the queue, is pure, and any cancellation of it has been received. */
  readonly runsUnclaimed: boolean;
  /** Our name in the claim of this call; a new one each time a call arrives. */
  readonly claimant: string;
  readonly abort: AbortController;
  /** Its deliveries by the queue: none so far, where it came past the queue. */
  readonly deliveries: CallDelivery[];
  /** The store it was sent into, see ToolStreams.store; null where that is not known. */
  readonly store: string | null;
  /** It has a slot, and may be claimed. */
  hasBegun: boolean;
  /** Frees its place in the backlog. */
  readonly leaveBacklog: () => void;
}

export interface CallAttemptsParts {
  readonly log: Log;
  readonly streams: ToolStreams;
  readonly records: CallRecords;
  readonly answers: CallAnswers;
  readonly handle: HandleCall;
  /** Retries until JetStream answers; rejects when this process ends while NATS is away. */
  readonly retry: <Answer>(request: () => Promise<Answer>) => Promise<Answer>;
}

/** Runs attempts of calls, each at most once (I5). */
export class CallAttempts {
  constructor(private readonly parts: CallAttemptsParts) {}

  /** Undefined when there is nothing to reply: the call is withdrawn, or was answered before. */
  async replyTo(call: DispatchedCall, running: RunningCall): Promise<ToolReply | undefined> {
    const { answers, records, retry } = this.parts;
    if (answers.repeat(running.key)) return undefined;
    if (running.runsUnclaimed) return this.run(call, running);

    const claimant = await retry(() => records.claim(running.key, running.claimant, call));
    if (claimant === withdrawn) return undefined;
    const isFirst = claimant === running.claimant;
    if (isFirst && this.isClaimReliable(running)) {
      return (await retry(() => answers.earlierAnswer(call))) ?? this.run(call, running);
    }
    if (await retry(() => records.reply(running.key))) return undefined;
    return isFirst ? claimLost : { how: 'unknown', reason: 'The executor died while the tool ran.' };
  }

  /** Only the store that a call was sent into, in the same life of its server, knows an earlier claim or withdrawal. */
  private isClaimReliable({ store }: RunningCall): boolean {
    return store === null || this.parts.streams.remembers(store);
  }

  private async run(call: DispatchedCall, { key, abort: { signal } }: RunningCall): Promise<ToolReply> {
    const { handle, log, records } = this.parts;
    try {
      return await handle(call, {
        signal,
        output: (text, channel) => records.sendOutput(key, channel ? { text, channel } : { text }),
      });
    } catch (error) {
      log.error({ ...key, error }, 'tool call handler failed');
      return { how: 'unknown', reason: 'The executor failed while the tool ran.' };
    }
  }
}

const claimLost: ToolReply = { how: 'unknown', reason: 'NATS was started anew or lost data before the tool ran.' };
