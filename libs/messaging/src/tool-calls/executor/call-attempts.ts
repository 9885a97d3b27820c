import type { Log } from '../../log';
import type { CallKey } from '../../connection/subjects';
import { type CallRecords, withdrawn } from '../call-records';
import type { ToolStreams } from '../tool-streams';
import type { DispatchedCall, ToolReply } from '../wire-format';
import type { CallAnswers } from './call-answers';
import type { CallDelivery } from './call-deliveries';

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
  /** By `performance.now()`. */
  readonly arrivedAt: number;
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
  /** By how much that of this host was ahead of that of NATS, and when. */
  private clock: { readonly aheadMs: number; readonly at: Instant } | undefined;

  constructor(private readonly parts: CallAttemptsParts) {}

  /** Undefined when there is nothing to reply: the call is withdrawn, or was answered before. */
  async replyTo(call: DispatchedCall, running: RunningCall): Promise<ToolReply | undefined> {
    const { answers, records, retry } = this.parts;
    if (answers.repeat(running.key)) return undefined;
    if (running.runsUnclaimed) return this.run(call, running);

    const claimant = await retry(() => records.claim(running.key, running.claimant, call));
    if (claimant === withdrawn) return undefined;
    const isFirst = claimant === running.claimant;
    if (isFirst) await retry(() => this.readClock(running.key));
    if (isFirst && (await this.isClaimReliable(running))) {
      return (await retry(() => answers.earlierAnswer(call))) ?? this.run(call, running);
    }
    if (await retry(() => records.reply(running.key))) return undefined;
    return isFirst ? claimLost : { how: 'unknown', reason: 'The executor died while the tool ran.' };
  }

  /**
   * Only the store that a call was sent into, in the same life of its server, knows an earlier claim or withdrawal, and that one
   * only until it drops it for newer ones. None is dropped within seconds. The worker may know a newer store than this process.
   */
  private async isClaimReliable({ store, deliveries: [delivery] }: RunningCall): Promise<boolean> {
    const { streams, retry } = this.parts;
    if (store === null) return true;
    const nowMs = this.readNowMs();
    const times = { atMs: delivery?.storedAtMs ?? nowMs, nowMs }; // past the queue it has come just now
    const isYoung = nowMs - times.atMs < claimIsKeptForMs;
    if (!isYoung || !streams.remembers(store, times)) await retry(() => streams.recheck());
    return streams.remembers(store, times);
  }

  /** Once in a while: a call that was in the queue is as old as NATS says, whatever the clock of this host. */
  private async readClock(key: CallKey): Promise<void> {
    if (this.clock && isRecent(this.clock.at)) return;
    this.clock = { aheadMs: await this.parts.records.clockAheadMs(key), at: readInstant() };
  }

  /** By the clock of NATS. */
  private readNowMs(): number {
    return Date.now() - (this.clock?.aheadMs ?? 0);
  }

  /** With the rest of the time for which its worker waits. */
  private withPatienceLeft(call: DispatchedCall, { arrivedAt, deliveries: [delivery] }: RunningCall): DispatchedCall {
    if (call.patience_ms === undefined) return call;
    const sinceStored = delivery && this.clock && this.readNowMs() - delivery.storedAtMs;
    const waitedMs = sinceStored ?? performance.now() - arrivedAt;
    return { ...call, patience_ms: Math.max(0, Math.round(call.patience_ms - waitedMs)) };
  }

  private async run(call: DispatchedCall, running: RunningCall): Promise<ToolReply> {
    const { handle, log, records } = this.parts;
    const {
      key,
      abort: { signal },
    } = running;
    try {
      return await handle(this.withPatienceLeft(call, running), {
        signal,
        output: (text, channel) => records.sendOutput(key, channel ? { text, channel } : { text }),
      });
    } catch (error) {
      log.error({ ...key, error }, 'tool call handler failed');
      return { how: 'unknown', reason: 'The executor failed while the tool ran.' };
    }
  }
}

interface Instant {
  readonly wallMs: number;
  readonly steadyMs: number;
}

const readInstant = (): Instant => ({ wallMs: Date.now(), steadyMs: performance.now() });
const clockIsKnownForMs = 10 * 60_000;
const driftMs = 1_000;

/** And the clock of this host was not set since then, nor has the host stood still. */
function isRecent({ wallMs, steadyMs }: Instant): boolean {
  const sinceMs = performance.now() - steadyMs;
  return sinceMs < clockIsKnownForMs && Math.abs(Date.now() - wallMs - sinceMs) < driftMs;
}

const claimIsKeptForMs = 5_000;

const claimLost: ToolReply = { how: 'unknown', reason: 'NATS was started anew or lost data before the tool ran.' };
