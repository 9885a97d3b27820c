import type { DeltaEvent, EventId, RecordedFact } from '@rondo/contract';
import { streamOf, streamsClosedBy, streamsReopenedBy, textOf, withText } from './stream-of';

interface OpenStream {
  /** The last delta, as the pattern for later ones. */
  readonly last: DeltaEvent;
  readonly length: number;
  /** Undefined when it is not known from its beginning, or too long to keep: late comers then wait for the fact. */
  readonly text: string | undefined;
  /** A new holder tells this stream from another beginning; nothing of it fits any more. */
  readonly dead: boolean;
}

/** `news` goes to whoever watches; `stale` says nothing new; `torn` means that text before it is missing here. */
export type Reception = { readonly news: DeltaEvent } | 'stale' | 'torn';

export interface StreamBounds {
  /** UTF-16 units of text kept per run. */
  readonly keptText: number;
  /** Ids of closed streams that are remembered, so that a late delta cannot open one again. */
  readonly rememberedStreams: number;
}

/** What the open streams of one run have said so far. */
export class ReceivedStreams {
  private readonly open = new Map<string, OpenStream>();
  private readonly closed = new Set<string>();
  private keptText = 0;

  /** `since`: deltas older than this seq may belong to streams that closed before anybody watched. */
  constructor(
    private readonly since: number,
    private readonly bounds: StreamBounds,
    private readonly mint: () => EventId,
  ) {}

  receive(delta: DeltaEvent, from: 'feed' | 'holder'): Reception {
    const name = streamOf(delta);
    if (this.closed.has(name)) return 'stale';

    const stream = this.open.get(name);
    if (!stream) {
      if (from === 'feed' && (delta.offset > 0 || delta.after_seq < this.since)) return 'torn';
      return this.goOn(name, delta, { length: 0, text: '' });
    }
    if (stream.dead || delta.epoch < stream.last.epoch) return 'stale';
    if (delta.epoch > stream.last.epoch && delta.offset !== stream.length) return this.kill(name, stream);
    if (delta.offset > stream.length) return 'torn';

    const text = textOf(delta).slice(stream.length - delta.offset);
    if (text === '') return 'stale';
    const fitting = delta.offset === stream.length ? delta : this.cut(delta, stream.length, text);
    return this.goOn(name, fitting, stream);
  }

  /** Nobody knows what came before this delta: its stream goes on without a beginning. */
  giveUp(delta: DeltaEvent): void {
    const name = streamOf(delta);
    if (this.closed.has(name)) return;
    this.forgetText(this.open.get(name)?.text);
    this.open.set(name, { last: delta, length: delta.offset + textOf(delta).length, text: undefined, dead: false });
  }

  close(fact: RecordedFact): void {
    for (const name of streamsReopenedBy(fact)) this.closed.delete(name);
    const closing = streamsClosedBy(fact);
    for (const name of closing) {
      this.forgetText(this.open.get(name)?.text);
      this.open.delete(name);
      this.closed.add(name);
    }
    if (closing.length > 0) this.forgetOldest();
  }

  private forgetOldest(): void {
    for (const name of this.closed) {
      if (this.closed.size <= this.bounds.rememberedStreams) break;
      this.closed.delete(name);
    }
  }

  /** For one who has heard each stream up to `heard`: one delta per stream that brings him up to date. */
  missing(heard: (stream: string) => number): DeltaEvent[] {
    return [...this.open].flatMap(([name, { last, text, dead }]) => {
      const offset = heard(name);
      return text === undefined || dead || text.length <= offset ? [] : [this.cut(last, offset, text.slice(offset))];
    });
  }

  private goOn(name: string, delta: DeltaEvent, before: Pick<OpenStream, 'length' | 'text'>): { news: DeltaEvent } {
    const added = textOf(delta);
    const keep = before.text !== undefined && this.keptText + added.length <= this.bounds.keptText;
    if (keep) this.keptText += added.length;
    else this.forgetText(before.text);
    this.open.set(name, {
      last: delta,
      length: before.length + added.length,
      text: keep ? before.text + added : undefined,
      dead: false,
    });
    return { news: delta };
  }

  private kill(name: string, stream: OpenStream): 'stale' {
    this.forgetText(stream.text);
    this.open.set(name, { ...stream, text: undefined, dead: true });
    return 'stale';
  }

  private cut(delta: DeltaEvent, offset: number, text: string): DeltaEvent {
    return withText(delta, { id: this.mint(), offset, text });
  }

  private forgetText(text: string | undefined): void {
    this.keptText -= text?.length ?? 0;
  }
}
