import type { AgentRun, Model, ModelChunk, ModelRequest } from '@rondo/domain';
import { DifferenceError } from './difference';
import type { RecordedPlace } from './recorded-place';
import { replyChunks } from './reply-chunks';

interface RecordedModelParts {
  readonly place: RecordedPlace;
  readonly agent: AgentRun;
  /** Throws where the request is not the recorded one. */
  readonly onRequest: (request: ModelRequest) => void;
}

/** Replies what the log says that the model replied to the request at this place. */
export class RecordedModel implements Model {
  constructor(private readonly parts: RecordedModelParts) {}

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<readonly ModelChunk[]> {
    await Promise.resolve();
    const { place, agent, onRequest } = this.parts;
    onRequest(request);
    for (const chunk of replyChunks(place.facts.slice(place.at), agent)) {
      if (!signal.aborted || chunk.type === 'end') yield [chunk];
    }
    const iteration = place.last?.iteration ?? 0;
    throw new DifferenceError({
      iteration,
      where: 'model call',
      problem: 'the recording has no reply to it',
      diff: [],
    });
  }
}
