import { type ToolCall, toFailedResult } from '@rondo/contract';
import {
  type SentCall,
  type StoppedTool,
  type ToolAnswer,
  type Tools,
  TransientError,
  builtInTools,
} from '@rondo/domain';
import type { Life, Timeline } from './timeline';
import { type SimulatedToolBus, toName, withdrawn } from './simulated-tool-bus';

export interface SimulatedToolsParts {
  readonly timeline: Timeline;
  readonly life: Life;
  readonly bus: SimulatedToolBus;
  /** A call is sent. */
  readonly dispatched: (call: ToolCall) => void;
  /** What the run has left running, once it is dead; undefined if its executor does not confirm that. */
  readonly endProcesses: () => readonly StoppedTool[] | undefined;
}

/** `maybeInto`: the store into which an earlier holder, or an interrupted send of this one, may have sent the call. */
export type Sent = 'no' | 'yes' | { readonly maybeInto: string | null };

interface OpenCall {
  readonly call: ToolCall;
  sent: Sent;
  missedLookups: number;
  isStopping: boolean;
  isMoving: boolean;
  settled: boolean;
  readonly settle: (answer: ToolAnswer) => void;
  readonly fail: (reason: Error) => void;
  /** Ends when the call is no longer awaited. */
  readonly over: AbortController;
}

const pollMs = 2_000;
const patienceMs = 120_000;
const stopTimeoutMs = 3_000;
const maxMissedLookups = 2;

/** A worker's calls in one activation: observes each call on the bus until its outcome is known (I5). */
export class SimulatedTools implements Tools {
  private readonly open = new Map<string, OpenCall>();
  private closed: Error | undefined;

  constructor(protected readonly parts: SimulatedToolsParts) {}

  get store(): string | null {
    return this.parts.bus.isAway ? null : this.parts.bus.store;
  }

  execute(call: ToolCall, signal: AbortSignal): Promise<ToolAnswer> {
    return this.follow(call, signal, 'no');
  }

  reattach({ call, store }: SentCall, signal: AbortSignal): Promise<ToolAnswer> {
    return this.follow(call, signal, { maybeInto: store });
  }

  endRun(): Promise<readonly StoppedTool[] | undefined> {
    return Promise.resolve(this.parts.endProcesses());
  }

  onAnswer(call: ToolCall, answer: ToolAnswer): void {
    const open = this.open.get(toName(call));
    if (open) this.end(open, answer);
  }

  /** Rejects the open calls. They continue, and the next holder of the run finds them. */
  close(reason: Error): void {
    this.closed ??= reason;
    for (const open of this.open.values()) {
      open.settled = true;
      open.over.abort();
      open.fail(reason);
    }
    this.open.clear();
  }

  protected follow(call: ToolCall, signal: AbortSignal, sent: Sent): Promise<ToolAnswer> {
    if (this.closed) return Promise.reject(this.closed);

    const { timeline, life } = this.parts;
    return new Promise((settle, fail) => {
      const fresh = { missedLookups: 0, isStopping: false, isMoving: false, settled: false };
      const over = new AbortController();
      const open: OpenCall = { call, sent, ...fresh, settle, fail, over };
      this.open.set(toName(call), open);
      signal.addEventListener('abort', () => this.stop(open), { once: true, signal: over.signal });
      if (signal.aborted) this.stop(open);
      timeline.within(
        life,
        (builtInTools.named(call.name)?.timeoutMs ?? 0) + patienceMs,
        () => void this.timeOut(open),
      );
      this.poll(open);
    });
  }

  private poll(open: OpenCall): void {
    if (open.settled) return;
    void this.advance(open);
    this.parts.timeline.within(this.parts.life, pollMs, () => this.poll(open));
  }

  private async advance(open: OpenCall): Promise<void> {
    if (open.isMoving || open.settled || this.parts.bus.isAway) return;
    open.isMoving = true;
    await unlessAway(() => (open.sent === 'no' ? this.send(open) : this.look(open)));
    open.isMoving = false;
  }

  private async send(open: OpenCall): Promise<void> {
    const { bus, life, dispatched } = this.parts;
    if (open.isStopping) return;
    open.sent = { maybeInto: bus.store };
    await bus.ask(life, () => {
      dispatched(open.call);
      bus.dispatch(open.call);
    });
    open.sent = 'yes';
  }

  private async look(open: OpenCall): Promise<void> {
    const { bus, life, timeline } = this.parts;
    const { call } = open;
    const waits = await bus.ask(life, () => bus.waits(call));
    const reply = await bus.ask(life, () => bus.reply(call));
    const taker = waits || reply ? undefined : await bus.ask(life, () => bus.taker(call));

    if (reply) this.end(open, reply);
    else if (taker === withdrawn)
      this.end(open, open.isStopping ? deadAt(timeline.isoNow) : failure('Not executed: it was withdrawn.'));
    else if (waits || taker !== undefined) open.sent = 'yes';
    else await this.miss(open);
  }

  /** The call left no trace. If it would have left one, it was never sent; otherwise its outcome is unknown (I5). */
  private async miss(open: OpenCall): Promise<void> {
    if (open.settled || open.isStopping) return;
    if (typeof open.sent === 'object' && open.sent.maybeInto === this.parts.bus.store) return this.send(open);
    open.missedLookups += 1;
    if (open.missedLookups < maxMissedLookups) return;
    this.end(open, { how: 'unknown', reason: 'No record shows what became of this tool call.' });
  }

  private stop(open: OpenCall): void {
    if (open.isStopping || open.settled) return;
    open.isStopping = true;
    const { timeline, life } = this.parts;
    if (open.sent === 'no') {
      this.end(open, deadAt(timeline.isoNow));
      return;
    }
    timeline.within(life, stopTimeoutMs, () => this.end(open, { how: 'stopped', verifiedDeadAt: null }));
    this.cancelOften(open);
    void unlessAway(() => this.withdraw(open)).then((done) => {
      if (done) this.end(open, deadAt(timeline.isoNow));
    });
  }

  private cancelOften(open: OpenCall): void {
    if (open.settled) return;
    this.parts.bus.cancel(open.call);
    this.parts.timeline.within(this.parts.life, 500, () => this.cancelOften(open));
  }

  /** Withdraws the call, if no executor has claimed it and the store has lost nothing. */
  private async withdraw({ call }: OpenCall): Promise<boolean> {
    const { bus, life } = this.parts;
    const { store } = bus;
    if (!(await bus.ask(life, () => bus.waits(call)))) return false;
    return bus.ask(life, () => bus.store === store && bus.take(call, withdrawn) === withdrawn);
  }

  private async timeOut(open: OpenCall): Promise<void> {
    if (open.settled) return;
    const unstarted = open.sent === 'no' || (await unlessAway(() => this.withdraw(open)));
    this.end(
      open,
      unstarted
        ? failure('Not executed: no executor had a free slot to run it in time.')
        : { how: 'unknown', reason: 'The tool did not answer in time.' },
    );
  }

  private end(open: OpenCall, answer: ToolAnswer): void {
    if (open.settled) return;
    open.settled = true;
    open.over.abort();
    this.open.delete(toName(open.call));
    open.settle(answer);
  }
}

const deadAt = (verifiedDeadAt: string): ToolAnswer => ({ how: 'stopped', verifiedDeadAt });
const failure = (error: string): ToolAnswer => ({ how: 'answered', result: toFailedResult(error), durationMs: 0 });

async function unlessAway<Answer>(work: () => Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof TransientError) return undefined;
    throw error;
  }
}
