import { type Delta, type DeltaEvent, type DeltaType, type RecordedFact, deltaTextKey } from '@rondo/contract';

/** A stream that no fact has superseded yet, with everything that was said on it. */
export interface OpenStream {
  readonly type: DeltaType;
  readonly streamId: string;
  readonly iteration: number;
  readonly afterSeq: number;
  text: string;
  readonly about: Record<string, string>;
}

/** The streams of one run that are in the air: where the next delta continues, and the text so far for late watchers. */
export class SentStreams {
  private readonly streams = new Map<string, OpenStream>();

  /** Takes a delta in and returns its place on its stream and its data, ready for the wire. */
  extend(delta: Delta, at: { iteration: number; afterSeq: number }): Pick<DeltaEvent, 'stream_id' | 'offset' | 'data'> {
    const key = `${delta.type} ${delta.streamId}`;
    const about = aboutOf(delta);
    const stream = this.streams.get(key) ?? { type: delta.type, streamId: delta.streamId, ...at, text: '', about };
    this.streams.set(key, stream);

    const offset = stream.text.length;
    stream.text += delta.text;
    return { stream_id: delta.streamId, offset, data: { ...about, [deltaTextKey(delta.type)]: delta.text } };
  }

  /** A fact supersedes the streams of what it stores, withdraws or ends. */
  supersede(fact: RecordedFact): void {
    switch (fact.type) {
      case 'message.created':
        this.close('message.delta', fact.data.message.id);
        this.close('reasoning.delta', fact.data.message.id);
        return;
      case 'tool.planned':
        this.close('tool.call_delta', fact.data.tool_call.id);
        return;
      case 'tool.completed':
      case 'tool.failed':
      case 'tool.unknown':
        this.close('tool.output', fact.data.tool_call_id);
        return;
      case 'iteration.restarted':
      case 'run.completed':
      case 'run.failed':
      case 'run.stopped':
        this.streams.clear();
        return;
      case 'run.created':
      case 'run.started':
      case 'run.waiting':
      case 'run.resumed':
      case 'run.stop_requested':
      case 'iteration.started':
      case 'iteration.completed':
      case 'model.retried':
      case 'usage.recorded':
      case 'tool.started':
      case 'tool.resolved':
      case 'context.compaction_started':
      case 'context.compacted':
      case 'context.compaction_failed':
        return;
    }
  }

  soFar(): readonly OpenStream[] {
    return [...this.streams.values()];
  }

  private close(type: DeltaType, streamId: string): void {
    this.streams.delete(`${type} ${streamId}`);
  }
}

const aboutOf = ({ channel, name }: Delta): Record<string, string> => ({
  ...(channel && { stream: channel }),
  ...(name && { name }),
});
