import type { Log } from '../log';
import type { CallKey } from '../connection/subjects';
import type { CallAnswers } from './call-answers';
import type { CallDelivery } from './call-delivery';
import { type CallRecords, withdrawn } from './call-records';
import type { ToolStreams } from './tool-streams';
import type { DispatchedCall, ToolReply } from './tool-wire';

export interface CallContext {
  /** Aborted when the run is stopped, or by `close` with its reason. */
  readonly signal: AbortSignal;
  /** Shows what the tool prints to the run's watchers; may be lost. */
  readonly output: (text: string, channel?: 'stdout' | 'stderr') => void;
}

/** Does the work, unless it is aborted already. What goes wrong belongs into the reply; a rejection becomes `unknown`. */
export type HandleCall = (call: DispatchedCall, context: CallContext) => Promise<ToolReply>;

export interface RunningCall {
  readonly key: CallKey;
  /** It came past the queue, is pure, and cannot have been called off unheard. */
  readonly isUntaken: boolean;
  /** Who we are for this call; a new name each time a call is taken up. */
  readonly taker: string;
  readonly abort: AbortController;
  /** What the queue sent of it: nothing yet, where it came past the queue. */
  readonly deliveries: CallDelivery[];
  /** What it was sent into; null where that is not known. See ToolStreams.store. */
  readonly store: string | null;
  /** It has a slot, and may be taken. */
  hasBegun: boolean;
  /** It waits for a slot no more. */
  readonly leaveBacklog: () => void;
}

export interface CallAttemptsParts {
  readonly log: Log;
  readonly streams: ToolStreams;
  readonly records: CallRecords;
  readonly answers: CallAnswers;
  readonly handle: HandleCall;
  /** Asks until JetStream answers, or this process ends while NATS is away. */
  readonly insist: <Answer>(question: () => Promise<Answer>) => Promise<Answer>;
}

/** Runs attempts of calls, each at most once (I5). */
export class CallAttempts {
  constructor(private readonly parts: CallAttemptsParts) {}

  /** Undefined when no worker waits for one. */
  async replyTo(call: DispatchedCall, running: RunningCall): Promise<ToolReply | undefined> {
    const { answers, records, insist } = this.parts;
    if (answers.repeat(running.key)) return undefined;
    if (running.isUntaken) return this.run(call, running);

    const taker = await insist(() => records.take(running.key, running.taker));
    if (taker === withdrawn) return undefined;
    const isFirst = taker === running.taker;
    if (isFirst && this.isFromThere(running))
      return (await insist(() => answers.before(call))) ?? this.run(call, running);
    if (await insist(() => records.reply(running.key))) return undefined;
    return isFirst ? lostTrack : { how: 'unknown', reason: 'The executor died while the tool ran.' };
  }

  /** Only the store that a call was sent into, in the same life of its server, knows whether it was taken back, or taken before. */
  private isFromThere({ store }: RunningCall): boolean {
    return store === null || this.parts.streams.remembers(store);
  }

  private async run(call: DispatchedCall, { key, abort: { signal } }: RunningCall): Promise<ToolReply> {
    const { handle, log, records } = this.parts;
    try {
      return await handle(call, {
        signal,
        output: (text, channel) => records.show(key, channel ? { text, channel } : { text }),
      });
    } catch (error) {
      log.error({ ...key, error }, 'tool call handler failed');
      return { how: 'unknown', reason: 'The executor failed while the tool ran.' };
    }
  }
}

const lostTrack: ToolReply = { how: 'unknown', reason: 'NATS was started anew or lost data before the tool ran.' };
