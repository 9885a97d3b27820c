import {
  type Delta,
  type DeltaEvent,
  type DeltaType,
  type RecordedFact,
  deltaTextKey,
  isTerminalFact,
} from '@rondo/contract';
import { toStream, streamsClosedBy } from '@rondo/domain';

/** A stream that no fact has superseded yet, with its text so far. */
export interface OpenStream {
  readonly type: DeltaType;
  readonly streamId: string;
  readonly iteration: number;
  readonly afterSeq: number;
  text: string;
  readonly about: Record<string, string>;
}

/** The open streams of one run: the offset of the next delta, and the text so far for subscribers that join late. */
export class SentStreams {
  private readonly streams = new Map<string, OpenStream>();

  /** Appends a delta to its stream. Returns its offset and its data, ready for the wire. */
  extend(delta: Delta, at: { iteration: number; afterSeq: number }): Pick<DeltaEvent, 'stream_id' | 'offset' | 'data'> {
    const key = toStream({ type: delta.type, stream_id: delta.streamId });
    const about = describeStreams(delta);
    const stream = this.streams.get(key) ?? { type: delta.type, streamId: delta.streamId, ...at, text: '', about };
    this.streams.set(key, stream);

    const offset = stream.text.length;
    stream.text += delta.text;
    return { stream_id: delta.streamId, offset, data: { ...about, [deltaTextKey(delta.type)]: delta.text } };
  }

  /** A restarted iteration and the end of the run end every stream; other facts end those of what they store. */
  supersede(fact: RecordedFact): void {
    if (fact.type === 'iteration.restarted' || isTerminalFact(fact)) this.streams.clear();
    else for (const stream of streamsClosedBy(fact)) this.streams.delete(stream);
  }

  soFar(): readonly OpenStream[] {
    return [...this.streams.values()];
  }
}

const describeStreams = ({ channel, name }: Delta): Record<string, string> => ({
  ...(channel && { stream: channel }),
  ...(name && { name }),
});
