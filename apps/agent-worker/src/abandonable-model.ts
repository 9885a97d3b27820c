import type { Model, ModelChunk, ModelRequest } from '@rondo/domain';

/** A model whose streams can be left at once without stopping the run: the reply is withdrawn and asked for anew elsewhere. */
export class AbandonableModel implements Model {
  constructor(
    private readonly model: Model,
    private readonly abandon: AbortSignal,
  ) {}

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelChunk> {
    for await (const chunk of this.model.stream(request, AbortSignal.any([signal, this.abandon]))) {
      this.abandon.throwIfAborted();
      yield chunk;
    }
  }
}
