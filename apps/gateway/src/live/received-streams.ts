import { toStream, streamsClosedBy, streamsReopenedBy, deltaText, withText } from '@rondo/domain';
import type { DeltaEvent, EventId, RecordedFact } from '@rondo/contract';

interface OpenStream {
  /** The last delta, from which later ones are built. */
  readonly last: DeltaEvent;
  readonly length: number;
  /** Undefined when its beginning is unknown, or it is too long to keep: late subscribers then wait for the fact. */
  readonly text: string | undefined;
  /** A new holder restarted this stream with other text; no delta fits any more. */
  readonly isInvalid: boolean;
}

/** `delta` is to be delivered; a `duplicate` adds no text; at a `gap`, text before it is missing here. */
export type Reception = { readonly delta: DeltaEvent } | 'duplicate' | 'gap';

export interface StreamBounds {
  /** UTF-16 units of text kept per run. */
  readonly keptText: number;
  /** Ids of closed streams that are remembered, so that a late delta cannot reopen one. */
  readonly rememberedStreams: number;
}

/** The text so far of a run's open streams. */
export class ReceivedStreams {
  private readonly open = new Map<string, OpenStream>();
  private readonly closed = new Set<string>();
  private keptText = 0;

  /** `since`: deltas older than this seq may belong to streams that closed before the subscription began. */
  constructor(
    private readonly since: number,
    private readonly bounds: StreamBounds,
    private readonly newEventId: () => EventId,
  ) {}

  receive(delta: DeltaEvent, from: 'feed' | 'holder'): Reception {
    const name = toStream(delta);
    if (this.closed.has(name)) return 'duplicate';

    const stream = this.open.get(name);
    if (!stream) {
      if (from === 'feed' && (delta.offset > 0 || delta.after_seq < this.since)) return 'gap';
      return this.append(name, delta, { length: 0, text: '' });
    }
    if (stream.isInvalid || delta.epoch < stream.last.epoch) return 'duplicate';
    if (delta.epoch > stream.last.epoch && delta.offset !== stream.length) return this.invalidate(name, stream);
    if (delta.offset > stream.length) return 'gap';

    const text = deltaText(delta).slice(stream.length - delta.offset);
    if (text === '') return 'duplicate';
    const fitting = delta.offset === stream.length ? delta : this.cut(delta, stream.length, text);
    return this.append(name, fitting, stream);
  }

  /** Continues a stream after a gap that could not be filled. Its text is then incomplete, so it is not kept. */
  skipGap(delta: DeltaEvent): void {
    const name = toStream(delta);
    if (this.closed.has(name)) return;
    this.dropText(this.open.get(name)?.text);
    const length = delta.offset + deltaText(delta).length;
    this.open.set(name, { last: delta, length, text: undefined, isInvalid: false });
  }

  close(fact: RecordedFact): void {
    for (const name of streamsReopenedBy(fact)) this.closed.delete(name);
    const closing = streamsClosedBy(fact);
    for (const name of closing) {
      this.dropText(this.open.get(name)?.text);
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

  /** For a subscriber that was sent so much of each stream: one delta per stream with the text that it lacks. */
  missing(sentLength: (stream: string) => number): DeltaEvent[] {
    return [...this.open].flatMap(([name, { last, text, isInvalid }]) => {
      const offset = sentLength(name);
      return text === undefined || isInvalid || text.length <= offset
        ? []
        : [this.cut(last, offset, text.slice(offset))];
    });
  }

  private append(name: string, delta: DeltaEvent, before: Pick<OpenStream, 'length' | 'text'>): { delta: DeltaEvent } {
    const added = deltaText(delta);
    const keep = before.text !== undefined && this.keptText + added.length <= this.bounds.keptText;
    if (keep) this.keptText += added.length;
    else this.dropText(before.text);
    this.open.set(name, {
      last: delta,
      length: before.length + added.length,
      text: keep ? before.text + added : undefined,
      isInvalid: false,
    });
    return { delta };
  }

  private invalidate(name: string, stream: OpenStream): 'duplicate' {
    this.dropText(stream.text);
    this.open.set(name, { ...stream, text: undefined, isInvalid: true });
    return 'duplicate';
  }

  private cut(delta: DeltaEvent, offset: number, text: string): DeltaEvent {
    return withText(delta, { id: this.newEventId(), offset, text });
  }

  private dropText(text: string | undefined): void {
    this.keptText -= text?.length ?? 0;
  }
}
