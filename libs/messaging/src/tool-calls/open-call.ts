import { failedResult } from '@rondo/contract';
import { TerminalError, TransientError } from '@rondo/domain';
import type { CallKey } from '../connection/subjects';
import { CallCancellation, type CallCancellationParts, type Sent } from './call-cancellation';
import { withdrawn } from './call-records';
import type { PendingCancellations } from './pending-cancellations';
import { type DispatchedCall, type ExecutorAnswer, type ToolReply, answerOf, keyOf, runsUnclaimed } from './tool-wire';

export interface OpenCallParts extends CallCancellationParts {
  readonly pendingCancellations: Pick<PendingCancellations, 'add'>;
  readonly timing: ToolTiming;
}

export interface ToolTiming {
  /** How often a stored reply is looked for, in case its live message was lost. */
  readonly checkEveryMs: number;
  /** How long a call may take beyond its own timeout, waiting for an executor or for NATS. */
  readonly patienceMs: number;
  /** How long a stop waits for the executor to say that the call is dead. */
  readonly stopTimeoutMs: number;
}

const cancelEveryMs = 500;
/** A call must be missed twice: an executor that just came back needs a moment to say what it is running. */
const missesThatCount = 2;

/**
 * A call that waits for its answer. It moves by `advance`, which takes the next step that is due, may be called
 * at any time and as often as one likes, and whatever fails is due again at the next call. So NATS may go away,
 * restart or lose its data at any point, and there is one logic for all of that.
 */
export class OpenCall {
  readonly answer: Promise<ExecutorAnswer>;
  private settle: (answer: ExecutorAnswer) => void = () => undefined;
  private fail: (reason: Error) => void = () => undefined;
  private settled = false;
  private advancing = false;
  private stopping = false;
  private misses = 0;
  private readonly timers: NodeJS.Timeout[] = [];

  constructor(
    private readonly parts: OpenCallParts,
    private readonly call: DispatchedCall,
    private sent: Sent,
  ) {
    this.answer = new Promise((resolve, reject) => {
      this.settle = resolve;
      this.fail = reject;
    });
    this.after(call.timeout_ms + parts.timing.patienceMs, () => void this.giveUp());
  }

  get key(): CallKey {
    return keyOf(this.call);
  }

  hear(reply: ToolReply): void {
    this.end(answerOf(reply));
  }

  /** Rejects the answer. The call itself goes on, and a later holder finds it. */
  abandon(reason: Error): void {
    this.close();
    this.fail(reason);
  }

  async advance(): Promise<void> {
    if (this.advancing || this.settled || !this.parts.nats.connected) return;
    this.advancing = true;
    try {
      if (this.sent === 'no') await this.send();
      else await this.look();
    } catch (error) {
      if (error instanceof TerminalError) this.end(failed(error.message));
      else this.parts.nats.log.warn({ ...this.key, error }, 'tool call could not be followed, asking again');
    } finally {
      this.advancing = false;
    }
  }

  /** Answers within the stop's bound: by the executor's word, or at once where no executor has taken the call. */
  stop(): void {
    if (this.stopping || this.settled) return;
    this.stopping = true;
    if (this.sent === 'no') {
      this.end(stoppedNow());
      return;
    }
    this.after(this.parts.timing.stopTimeoutMs, () => this.endLoosely({ how: 'stopped', verifiedDeadAt: null }));
    this.cancel();
    this.ending.withdraw().then(
      (done) => done && this.end(stoppedNow()),
      () => undefined, // NATS is away: the bound above ends it
    );
  }

  private async send(): Promise<void> {
    const records = await this.parts.records();
    const { streams } = this.parts;
    await streams.ensure();
    if (this.settled || this.stopping) return;

    const { store } = streams;
    if (store === null) throw new TransientError('NATS was started anew a moment ago');
    const call = { ...this.call, store };
    const asksFirst = this.sent === 'no' && runsUnclaimed(call);
    const isSent = asksFirst ? records.askToRun(call) : records.dispatch(call);
    if (isSent) this.sent = { into: store, isSeen: false };
    else this.end(failed('The arguments are too large to be sent to the tool.'));
  }

  /** The queue first, the reply second: an executor stores the reply before it takes the call off the queue. */
  private async look(): Promise<void> {
    const records = await this.parts.records();
    const waits = await records.waits(this.key);
    const reply = await records.reply(this.key);
    const taker = waits || reply ? undefined : await records.taker(this.key);

    if (reply) this.hear(reply);
    else if (taker === withdrawn) this.end(this.stopping ? stoppedNow() : failed('Not executed: it was withdrawn.'));
    else if (waits || taker !== undefined) this.noteSeen();
    else await this.miss();
  }

  private noteSeen(): void {
    if (this.sent !== 'no') this.sent = { ...this.sent, isSeen: true };
  }

  /** No trace of it. Where it would have left one, it was never sent; else the ledger decides what is to be done. */
  private async miss(): Promise<void> {
    const { streams } = this.parts;
    await streams.recheck();
    if (this.settled || this.stopping) return;
    const { sent } = this;
    if (sent !== 'no' && !sent.isSeen && streams.remembers(sent.into)) return this.send();
    this.misses += 1;
    if (this.misses >= missesThatCount) {
      this.end({ how: 'unknown', reason: 'Nobody knows what became of this tool call.' });
    }
  }

  /** Says it again while nothing comes back: an executor may just be taking the call, or connecting again. */
  private cancel(): void {
    if (this.settled) return;
    this.after(cancelEveryMs, () => this.cancel());
    this.ending.tell();
  }

  private get ending(): CallCancellation {
    return new CallCancellation(this.parts, this.call, this.sent);
  }

  private async giveUp(): Promise<void> {
    const unstarted = this.sent === 'no' || (await this.ending.withdraw().catch(() => false));
    if (unstarted) {
      this.end(failed('Not executed: no executor was there, or had a place free, to run it in time.'));
    } else {
      this.endLoosely({ how: 'unknown', reason: 'The tool did not answer in time.' });
    }
  }

  private after(milliseconds: number, action: () => void): void {
    this.timers.push(setTimeout(action, milliseconds));
  }

  /** Nobody confirmed that it ended, so this process goes on to end it. Nothing else of the run is kept for that. */
  private endLoosely(answer: ExecutorAnswer): void {
    if (this.settled) return;
    const { call, sent } = this;
    const { nats, streams, records, pendingCancellations } = this.parts;
    records().then(
      (placed) => {
        const ending = new CallCancellation({ nats, streams, records: () => Promise.resolve(placed) }, call, sent);
        ending.tell();
        pendingCancellations.add(ending);
      },
      () => undefined, // no place, so it was never sent
    );
    this.end(answer);
  }

  private end(answer: ExecutorAnswer): void {
    this.close();
    this.settle(answer);
  }

  private close(): void {
    this.settled = true;
    this.timers.forEach((timer) => clearTimeout(timer));
  }
}

const failed = (error: string): ExecutorAnswer => ({ how: 'answered', result: failedResult(error), durationMs: 0 });

const stoppedNow = (): ExecutorAnswer => ({ how: 'stopped', verifiedDeadAt: new Date().toISOString() });
