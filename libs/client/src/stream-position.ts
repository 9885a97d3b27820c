import { MissingFactsError } from './errors.ts';
import { type Delta, deltaTypes, isDelta, isFact, isNotice, toText, type FactTable, lookUp } from './event-kinds.ts';
import type { Fact, StreamEvent, StreamRewound } from './generated/api.ts';

/** Facts that were written after the database was replaced have this epoch or a greater one. */
const firstEpochOfReplaced = 1_000_000;

/** What a reader of a run's stream has received, over all its connections. */
export class StreamPosition {
  /** How much of each open text was passed on, by type and stream. */
  private readonly lengths = new Map<string, number>();

  constructor(
    private lastSeq: number,
    private lastEpoch = 0,
  ) {}

  /** The last fact that was passed on. */
  get after(): number {
    return this.lastSeq;
  }

  /** What a gateway is asked to continue after, as it writes it itself. */
  get lastEventId(): string {
    return this.lastEpoch < firstEpochOfReplaced ? String(this.lastSeq) : `${this.lastSeq}.${this.lastEpoch}`;
  }

  /** The event, or of a delta the part of it, that was not passed on yet; undefined if all of it was. Types that this client does not know are passed on. */
  accept(event: StreamEvent): StreamEvent | undefined {
    if (isDelta(event)) return this.acceptDelta(event);
    if (isFact(event)) return this.acceptFact(event);
    if (!isNotice(event)) return event;
    if (event.type === 'stream.rewound') return this.rewind(event);
    const covered = event.type === 'stream.gap' ? event.data.to : event.data.through_seq;
    if (covered < this.lastSeq) return undefined;
    this.lastSeq = covered;
    return event;
  }

  private acceptFact(fact: Fact): StreamEvent | undefined {
    if (fact.seq <= this.lastSeq) return undefined;
    if (fact.seq !== this.lastSeq + 1) throw new MissingFactsError(this.lastSeq + 1, fact.seq);
    this.lastSeq = fact.seq;
    this.lastEpoch = fact.epoch;
    for (const stream of lookUp(closedBy, fact) ?? []) this.lengths.delete(stream);
    return fact;
  }

  /** What was passed on from there is not in the log. */
  private rewind(event: StreamRewound): StreamEvent | undefined {
    this.lengths.clear();
    this.lastEpoch = event.epoch;
    if (event.data.from > this.lastSeq) return undefined;
    this.lastSeq = event.data.from - 1;
    return event;
  }

  /** A new connection sends an open text from its beginning. */
  private acceptDelta(delta: Delta): StreamEvent | undefined {
    const key = toKey(delta.type, delta.stream_id);
    const known = this.lengths.get(key) ?? 0;
    const text = toText(delta);
    const end = delta.offset + text.length;
    if (end <= known) return undefined;
    this.lengths.set(key, end);
    return delta.offset >= known ? delta : withText(delta, text.slice(known - delta.offset), known);
  }
}

const toKey = (type: Delta['type'], streamId: string): string => `${type} ${streamId}`;

const output = ({ data }: { data: { tool_call_id: string } }): string[] => [toKey('tool.output', data.tool_call_id)];

/** The texts that a fact supersedes. */
const closedBy: FactTable<string[]> = {
  'message.created': ({ data: { message } }) => [
    toKey('message.delta', message.id),
    toKey('reasoning.delta', message.id),
  ],
  'tool.planned': ({ data }) => [toKey('tool.call_delta', data.tool_call.id)],
  'tool.started': output, // another attempt prints from the beginning
  'tool.completed': output,
  'tool.failed': output,
  'iteration.restarted': ({ data }) =>
    data.withdrawn_stream_ids.flatMap((id) => deltaTypes.map((type) => toKey(type, id))),
};

/** The same delta from a later place on. */
function withText(delta: Delta, text: string, offset: number): Delta {
  return delta.type === 'tool.call_delta'
    ? { ...delta, offset, data: { ...delta.data, arguments_text: text } }
    : { ...delta, offset, data: { ...delta.data, text } };
}
