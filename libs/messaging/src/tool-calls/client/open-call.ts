import { type AccountId, type CallId, toFailedResult } from '@rondo/contract';
import { TerminalError, TransientError } from '@rondo/domain';
import type { CallKey } from '../../connection/subjects';
import { type CallRecords, withdrawn } from '../call-records';
import {
  type DispatchedCall,
  type ExecutorAnswer,
  type ToolReply,
  toAnswer,
  toKey,
  runsUnclaimed,
} from '../wire-format';
import {
  CallCancellation,
  type CallCancellationParts,
  type Sent,
  type PendingCancellations,
} from './call-cancellation';
import type { HeldShare, QueueShares, QueuedCall } from './queue-shares';

export interface OpenCallParts extends CallCancellationParts {
  readonly pendingCancellations: Pick<PendingCancellations, 'add'>;
  /** The records of the executor that a new call goes to, which is another one once the former is lost. */
  readonly recordsToSend: () => Promise<CallRecords>;
  /** Whether an executor has been away for so long that its sandboxes are moved. */
  readonly isLost: (executorId: string) => boolean;
  /** The executor has said that it does not host the sandbox any more. */
  readonly moved: () => void;
  /** Absent: the bytes that an account has in the queue are not limited. */
  readonly shares?: Pick<QueueShares, 'enter' | 'hold'>;
  readonly timing: ToolTiming;
}

export interface ToolTiming {
  /** How often a stored reply is looked for, in case its live message was lost. */
  readonly checkEveryMs: number;
  /** How long a call may take beyond its own timeout, waiting for an executor or for NATS, but not for a share of the queue. */
  readonly patienceMs: number;
  /** How long a stop waits for the executor to confirm that the call is dead. */
  readonly stopTimeoutMs: number;
}

/** A call that names its account. */
export type OwnCall = DispatchedCall & { readonly account_id: AccountId };

const cancelEveryMs = 500;
/** A record must be missing twice: an executor that has just reconnected needs a moment to claim its running calls again. */
const missesThatCount = 2;
/** A sandbox that moves all the time is an error that has to be seen. */
const maxRedirects = 3;

/**
 * A call that waits for its answer. `advance` takes the next step that is due; it may be called at any time and any number
 * of times, and a step that fails is due again at the next call. So NATS may be away, restart or lose its data at any
 * point, and one logic covers all of these.
 */
export class OpenCall {
  readonly answer: Promise<ExecutorAnswer>;
  private settle: (answer: ExecutorAnswer) => void = () => undefined;
  private fail: (reason: Error) => void = () => undefined;
  private settled = false;
  private advancing = false;
  private stopping = false;
  private misses = 0;
  private redirects = 0;
  private readonly timers: NodeJS.Timeout[] = [];
  private patience: NodeJS.Timeout | undefined;
  private givesUpAt = 0;
  private share: HeldShare | undefined;
  private readonly over = new AbortController();

  constructor(
    private readonly parts: OpenCallParts,
    private readonly call: OwnCall,
    private sent: Sent,
  ) {
    this.answer = new Promise((resolve, reject) => {
      this.settle = resolve;
      this.fail = reject;
    });
    this.beginPatience();
  }

  get key(): CallKey {
    return toKey(this.call);
  }

  get callId(): CallId {
    return this.call.call_id;
  }

  /** An executor may have got it. */
  get isSent(): boolean {
    return this.sent !== 'no';
  }

  receive(reply: ToolReply): void {
    const isElsewhere = reply.how === 'answered' && reply.is_elsewhere;
    if (isElsewhere && !this.stopping && this.redirects < maxRedirects) this.redirect();
    else this.end(toAnswer(reply), 'answered by its executor');
  }

  /** It was certainly not executed there, so it is sent to the executor that hosts the sandbox now. */
  private redirect(): void {
    this.redirects += 1;
    this.sent = 'no';
    this.parts.moved();
    void this.advance();
  }

  /** Rejects the answer. The call itself goes on, and a later holder of the run finds it. */
  abandon(reason: Error): void {
    this.close();
    this.fail(reason);
  }

  async advance(): Promise<void> {
    if (this.advancing || this.settled || !this.parts.nats.connected) return;
    this.advancing = true;
    try {
      if (this.sent === 'no') await this.send();
      else await this.checkRecords();
    } catch (error) {
      if (error instanceof TerminalError) this.end(toFailedAnswer(error.message));
      else this.parts.nats.log.warn({ ...this.key, error }, 'tool call could not be followed, retrying');
    } finally {
      this.advancing = false;
    }
  }

  /** Answers within the bound of a stop: by the executor's confirmation, or at once where no executor has claimed the call. */
  stop(): void {
    if (this.stopping || this.settled) return;
    this.stopping = true;
    if (this.sent === 'no') {
      this.end(answerStopped());
      return;
    }
    this.after(this.parts.timing.stopTimeoutMs, () => this.endUnconfirmed({ how: 'stopped', verifiedDeadAt: null }));
    this.cancel();
    this.cancellation.withdraw().then(
      (isWithdrawn) => isWithdrawn && this.end(answerStopped()),
      () => undefined, // NATS is away: the bound above ends it
    );
  }

  private async send(): Promise<void> {
    const goesPastQueue = this.sent === 'no' && runsUnclaimed(this.call);
    if (!goesPastQueue && !(await this.entersQueue())) return;
    const records = await this.parts.recordsToSend();
    const { streams } = this.parts;
    await streams.ensure();
    if (this.settled || this.stopping) return;

    const { store } = streams;
    if (store === null) throw new TransientError('NATS was started anew a moment ago');
    const call = { ...this.call, store, patience_ms: Math.max(0, Math.round(this.givesUpAt - performance.now())) };
    const isSent = goesPastQueue ? records.dispatchPastQueue(call) : records.dispatch(call);
    if (isSent) this.sent = { into: store, isSeen: false };
    else this.end(toFailedAnswer('The arguments are too large to be sent to the tool.'));
  }

  /** Waits until the call fits into the share of its account; false if it ends before. Its patience for an executor begins then. */
  private async entersQueue(): Promise<boolean> {
    const { shares } = this.parts;
    if (!shares || this.share) return true;
    clearTimeout(this.patience);
    const share = await shares.enter(this.queuedCall, this.over.signal);
    if (this.settled) {
      share?.giveBack();
      return false;
    }
    this.share = share;
    this.beginPatience();
    return true;
  }

  private get queuedCall(): QueuedCall {
    const { account_id, run_id } = this.call;
    const bytes = Buffer.byteLength(JSON.stringify(this.call));
    return { account: account_id, runId: run_id, bytes };
  }

  /** The queue first, the reply second: an executor stores the reply before it removes the call from the queue. */
  private async checkRecords(): Promise<void> {
    const records = await this.parts.records();
    const isQueued = await records.isQueued(this.key);
    const reply = await records.reply(this.key);
    const claimant = isQueued || reply ? undefined : await records.claimant(this.key);

    if (reply) this.receive(reply);
    else if (claimant === withdrawn)
      this.end(this.stopping ? answerStopped() : toFailedAnswer('Not executed: it was withdrawn.'));
    else if (claimant === undefined && this.parts.isLost(records.executorId)) await this.takeBack();
    else if (isQueued || claimant !== undefined) this.noteSeen(isQueued);
    else await this.noteMissing();
  }

  /** A call that the lost executor has not claimed is withdrawn, so that it never runs there, and sent to the next one. */
  private async takeBack(): Promise<void> {
    const mayRunTwice = runsUnclaimed(this.call);
    if (!mayRunTwice && !(await this.cancellation.withdraw())) return;
    if (this.settled || this.stopping) return;
    this.sent = 'no';
    await this.send();
  }

  /** A former holder of the run may have sent it. */
  private noteSeen(isQueued: boolean): void {
    if (this.sent !== 'no') this.sent = { ...this.sent, isSeen: true };
    if (isQueued && !this.settled) this.share ??= this.parts.shares?.hold(this.queuedCall);
  }

  /** No record was found. In a store that would have kept one, the call never arrived; else its outcome is unknown. */
  private async noteMissing(): Promise<void> {
    const { streams } = this.parts;
    await streams.recheck();
    if (this.settled || this.stopping) return;
    const { sent } = this;
    if (sent !== 'no' && !sent.isSeen && streams.remembers(sent.into)) return this.send();
    this.misses += 1;
    if (this.misses >= missesThatCount) {
      this.end({ how: 'unknown', reason: 'No record shows what became of this tool call.' });
    }
  }

  /** Repeats the request until the call is settled: the executor may be claiming the call just now, or reconnecting. */
  private cancel(): void {
    if (this.settled) return;
    this.after(cancelEveryMs, () => this.cancel());
    this.cancellation.send();
  }

  private get cancellation(): CallCancellation {
    return new CallCancellation(this.parts, this.call, this.sent);
  }

  private async timeOut(): Promise<void> {
    const isUnstarted = this.sent === 'no' || (await this.cancellation.withdraw().catch(() => false));
    if (isUnstarted) {
      const { problem } = this.parts.streams;
      const reason = problem === undefined ? ': no executor had a free slot to run it in time.' : `. ${problem}`;
      this.end(toFailedAnswer(`Not executed${reason}`));
    } else {
      this.endUnconfirmed({ how: 'unknown', reason: 'The tool did not answer in time.' });
    }
  }

  private beginPatience(): void {
    const { timeout_ms: timeoutMs, most_ms: mostMs = timeoutMs } = this.call;
    const patienceMs = mostMs + this.parts.timing.patienceMs;
    this.givesUpAt = performance.now() + patienceMs;
    this.patience = setTimeout(() => void this.timeOut(), patienceMs);
  }

  private after(milliseconds: number, action: () => void): void {
    this.timers.push(setTimeout(action, milliseconds));
  }

  /** Answers without confirmation that the call ended; this process goes on to cancel it, and keeps only its key for that. */
  private endUnconfirmed(answer: ExecutorAnswer): void {
    if (this.settled) return;
    const { call, sent } = this;
    const { nats, streams, records, pendingCancellations } = this.parts;
    records().then(
      (placed) => {
        const parts = { nats, streams, records: () => Promise.resolve(placed) };
        const cancellation = new CallCancellation(parts, call, sent);
        cancellation.send();
        pendingCancellations.add(cancellation);
      },
      () => undefined, // the thread is not placed, so the call was never sent
    );
    this.end(answer);
  }

  private end(answer: ExecutorAnswer, how?: 'answered by its executor'): void {
    this.close(how);
    this.settle(answer);
  }

  private close(how?: 'answered by its executor'): void {
    this.settled = true;
    this.over.abort();
    clearTimeout(this.patience);
    this.timers.forEach((timer) => clearTimeout(timer));
    this.giveBackShare(this.sent === 'no' || how !== undefined);
  }

  /** A call that ended in another way stays in the queue until its executor removes it. Only its key is kept for that. */
  private giveBackShare(hasLeftQueue: boolean): void {
    const { share, key } = this;
    const { records } = this.parts;
    this.share = undefined;
    if (hasLeftQueue) share?.giveBack();
    else share?.giveBackWhen(async () => !(await (await records()).isQueued(key)));
  }
}

const toFailedAnswer = (error: string): ExecutorAnswer => ({
  how: 'answered',
  result: toFailedResult(error),
  durationMs: 0,
});

const answerStopped = (): ExecutorAnswer => ({ how: 'stopped', verifiedDeadAt: new Date().toISOString() });
