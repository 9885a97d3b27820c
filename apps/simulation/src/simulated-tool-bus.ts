import type { ToolCall } from '@rondo/contract';
import { type ToolAnswer, TransientError } from '@rondo/domain';
import type { SeededRandom } from './seeded-random';
import type { Faults } from './faults';
import type { Life, Timeline } from './timeline';

export interface ToolBusParts {
  readonly timeline: Timeline;
  readonly random: SeededRandom;
  readonly faults: Faults;
  /** Delivers a call from that store to the executor of its thread. */
  readonly deliver: (call: ToolCall, store: string) => void;
  /** Both are published without persistence to the current subscribers, and can be lost. */
  readonly answered: (call: ToolCall, answer: ToolAnswer) => void;
  readonly cancelled: (call: ToolCall) => void;
}

interface CallRecord {
  readonly call: ToolCall;
  isKnown: boolean;
  waits: boolean;
  lastSignOfLife: number;
  taker: string | undefined;
  reply: ToolAnswer | undefined;
}

/** The record of a call that was withdrawn before an executor claimed it. */
export const withdrawn = 'withdrawn';

const ackWaitMs = 15_000;
const latencyMs = 20;

/**
 * The stream of calls between workers and executors: at least once, in any order. A call is kept until it is
 * acknowledged, only its first claimant gets it, and results are kept under the call's id.
 */
export class SimulatedToolBus {
  isAway = false;
  store = 'store 1';
  private records = new Map<string, CallRecord>();

  constructor(private readonly parts: ToolBusParts) {}

  /** Restarts without data, as a new store. */
  forget(): void {
    this.store = `store ${Number(this.store.slice('store '.length)) + 1}`;
    this.records = new Map();
  }

  /** Sends a request over the network. Rejects if the bus is away; the request may have been executed nevertheless. */
  ask<Answer>(life: Life, question: () => Answer): Promise<Answer> {
    const { timeline, random } = this.parts;
    return new Promise((resolve, reject) => {
      const away = (): void => timeline.within(life, latencyMs, () => reject(new TransientError('The bus is away.')));
      timeline.after(random.delay(latencyMs), () => {
        if (this.isAway) {
          away();
          return;
        }
        const answer = question();
        timeline.within(life, random.delay(latencyMs), () => (this.isAway ? away() : resolve(answer)));
      });
    });
  }

  /** The same attempt is stored once. */
  dispatch(call: ToolCall): void {
    const record = this.record(call);
    if (record.isKnown) return;
    record.isKnown = true;
    record.waits = true;
    this.send(record);
  }

  waits(call: ToolCall): boolean {
    return this.records.get(toName(call))?.waits ?? false;
  }

  /** The result of this attempt, or a late one of an earlier attempt. */
  reply(call: ToolCall): ToolAnswer | undefined {
    const before = call.attempt > 1 ? this.reply({ ...call, attempt: call.attempt - 1 }) : undefined;
    return before?.how === 'answered' ? before : this.records.get(toName(call))?.reply;
  }

  taker(call: ToolCall): string | undefined {
    return this.records.get(toName(call))?.taker;
  }

  /** The claimant of a call; none for a call from a lost store. */
  take(call: ToolCall, taker: string, store = this.store): string {
    if (store !== this.store) return withdrawn;
    const record = this.record(call);
    record.taker ??= taker;
    return record.taker;
  }

  showLife(call: ToolCall): void {
    this.record(call).lastSignOfLife = this.parts.timeline.now;
  }

  keep(call: ToolCall, reply: ToolAnswer): void {
    this.record(call).reply = reply;
    this.post(() => this.parts.answered(call, reply));
  }

  acknowledge(call: ToolCall): void {
    const record = this.records.get(toName(call));
    if (record) record.waits = false;
  }

  cancel(call: ToolCall): void {
    this.post(() => this.parts.cancelled(call));
  }

  private record(call: ToolCall): CallRecord {
    const nothing = { isKnown: false, waits: false, lastSignOfLife: 0, taker: undefined, reply: undefined };
    const record = this.records.get(toName(call)) ?? { call, ...nothing };
    this.records.set(toName(call), record);
    return record;
  }

  private send(record: CallRecord): void {
    const { timeline } = this.parts;
    const { store } = this;
    record.lastSignOfLife = timeline.now;
    this.post(() => this.parts.deliver(record.call, store));
    timeline.after(ackWaitMs, () => this.sendAgain(record));
  }

  private sendAgain(record: CallRecord): void {
    const { timeline } = this.parts;
    if (!record.waits || this.records.get(toName(record.call)) !== record) return;
    const silentMs = timeline.now - record.lastSignOfLife;
    if (silentMs >= ackWaitMs) this.send(record);
    else timeline.after(ackWaitMs - silentMs, () => this.sendAgain(record));
  }

  private post(arrival: () => void): void {
    const { timeline, random, faults } = this.parts;
    const fate = faults.message('tool message');
    if (fate === 'lost' || this.isAway) return;
    timeline.after(random.delay(latencyMs) + (fate === 'late' ? 20_000 : 0), arrival);
    if (fate === 'twice') timeline.after(random.delay(2_000), arrival);
  }
}

/** Identifies one sending of a call. */
export const toName = ({ id, attempt }: ToolCall): string => `${id}-${attempt}`;
