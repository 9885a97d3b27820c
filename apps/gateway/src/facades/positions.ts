import type { MessageId, RecordedFact } from '@rondo/contract';
import { deltaText } from '@rondo/domain';
import { type StreamNotice, type SubscriberEvent, readCoveredSeq, isNotice } from '../live/stream-notices';

/**
 * How far a reader of a thread has come: derived from the log, never counted, so that it means the same on every connection
 * and gateway, however deltas were cut. `place` is that of the run among those that have begun on the thread, `seq` its last
 * fact, and `units` are the UTF-16 units of the reply that is open there, over its reasoning and text in their order.
 */
export interface Position {
  readonly place: number;
  readonly seq: number;
  readonly units: number;
}

/** `<place>.<seq>.<units>` */
export const writePosition = ({ place, seq, units }: Position): string => `${place}.${seq}.${units}`;

const written = /^([1-9]\d{0,8})\.(\d{1,10})\.(\d{1,10})$/;

/** Undefined for what `writePosition` has not written. */
export function readPosition(text: string): Position | undefined {
  const [, place, seq, units] = written.exec(text) ?? [];
  return place === undefined ? undefined : { place: Number(place), seq: Number(seq), units: Number(units) };
}

/** Below zero if `a` is before `b`. */
export const comparePositions = (a: Position, b: Position): number =>
  a.place - b.place || a.seq - b.seq || a.units - b.units;

/** More than any reply has. */
const unitsOfFact = 2 ** 20;

/**
 * A position as one integer, for protocols that demand that: exact up to 2^33 facts. `facts` is the seq in a run, or the number
 * of facts in the thread's earlier runs and that seq. A reply with more units counts no further.
 */
export const toInteger = ({ facts, units }: { readonly facts: number; readonly units: number }): number =>
  facts * unitsOfFact + Math.min(units, unitsOfFact - 1);

export const readInteger = (integer: number): { readonly facts: number; readonly units: number } => ({
  facts: Math.floor(integer / unitsOfFact),
  units: integer % unitsOfFact,
});

/** A piece of a reply, or a fact, or what stands for facts that retention has removed; and the position after it. */
export type PositionedEvent = { readonly position: Position } & (
  | { readonly type: 'text' | 'reasoning'; readonly messageId: string; readonly text: string }
  | { readonly type: 'fact'; readonly fact: RecordedFact }
  | { readonly type: 'notice'; readonly notice: StreamNotice }
);

/**
 * The events of a run with their positions, after the one that a reader has. What was read until then has to be subscribed to with
 * `after: from.seq`. The text of a reply is always whole before its fact: what no delta brought is taken from there.
 *
 * Arguments of calls and output of commands have no position: calls run in parallel, and arguments are not stored as they were
 * written. A reply that reasons again after its first words has the same positions for all who have followed it from there.
 */
export class PositionedReader {
  private position: Position;
  /** Units of the open reply that have come, also those that the reader has. */
  private received = 0;
  /** The same by its streams. */
  private readonly lengths = new Map<string, number>();
  /** Text is missing: the rest of the reply comes with its fact. */
  private hasGap = false;

  constructor(private readonly from: Position) {
    this.position = from;
  }

  /** Nothing for what the reader has, and for what has no position. */
  read(event: SubscriberEvent): PositionedEvent[] {
    if (isNotice(event)) {
      this.moveTo(Math.max(this.position.seq, readCoveredSeq(event)), 0);
      return [{ type: 'notice', notice: event, position: this.position }];
    }
    if (event.seq !== null) return this.readFact(event);
    if (event.type !== 'message.delta' && event.type !== 'reasoning.delta') return [];
    const type = event.type === 'message.delta' ? 'text' : 'reasoning';
    this.hasGap ||= event.offset > (this.lengths.get(`${event.stream_id} ${type}`) ?? 0);
    if (this.hasGap) return [];
    return this.readText({ type, messageId: event.stream_id, offset: event.offset, text: deltaText(event) });
  }

  private readFact(fact: RecordedFact): PositionedEvent[] {
    const rest = fact.type === 'message.created' ? this.readStored(fact.data.message) : [];
    if (opensReply(fact)) this.openReply();
    this.moveTo(fact.seq, opensReply(fact) ? 0 : this.position.units);
    return [...rest, { type: 'fact', fact, position: this.position }];
  }

  /** What no delta has shown of a stored reply, in the order of its blocks. */
  private readStored({
    id,
    type,
    content,
  }: Extract<RecordedFact, { type: 'message.created' }>['data']['message']): PositionedEvent[] {
    if (type !== 'assistant') return [];
    const passed = new Map<string, number>();
    return content.flatMap((block) => {
      if (block.type !== 'text' && block.type !== 'reasoning') return [];
      const offset = passed.get(block.type) ?? 0;
      passed.set(block.type, offset + block.text.length);
      return this.readText({ type: block.type, messageId: id, offset, text: block.text });
    });
  }

  private readText({ type, messageId, offset, text }: Piece): PositionedEvent[] {
    const stream = `${messageId} ${type}`;
    const known = this.lengths.get(stream) ?? 0;
    if (offset + text.length <= known) return [];
    const before = this.received;
    const added = text.slice(known - offset);
    this.lengths.set(stream, known + added.length);
    this.received = before + added.length;
    if (this.received <= this.position.units) return []; // the reader had it
    const shown = added.slice(Math.max(0, this.position.units - before));
    this.moveTo(this.position.seq, this.received);
    return [{ type, messageId, text: shown, position: this.position }];
  }

  private openReply(): void {
    this.received = 0;
    this.hasGap = false;
    this.lengths.clear();
  }

  private moveTo(seq: number, units: number): void {
    this.position = { place: this.from.place, seq, units };
  }
}

interface Piece {
  readonly type: 'text' | 'reasoning';
  readonly messageId: MessageId | string;
  readonly offset: number;
  readonly text: string;
}

/** After it, what was shown of a reply is stored or withdrawn. */
const opensReply = (fact: RecordedFact): boolean =>
  fact.type === 'iteration.started' ||
  fact.type === 'iteration.restarted' ||
  (fact.type === 'message.created' && fact.data.message.type === 'assistant');
