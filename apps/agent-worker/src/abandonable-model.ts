import type { Model, ModelChunk, ModelRequest } from '@rondo/domain';

/** A model whose streams can be left at once without stopping the run: the reply is withdrawn and asked for anew elsewhere. */
export class AbandonableModel implements Model {
  private lastAsked: { readonly with: AbortSignal; readonly either: AbortSignal } | undefined;

  constructor(
    private readonly model: Model,
    private readonly abandon: AbortSignal,
  ) {}

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<readonly ModelChunk[]> {
    for await (const chunks of this.model.stream(request, this.orAbandon(signal))) {
      this.abandon.throwIfAborted();
      yield chunks;
    }
  }

  /** Most calls of a run come with the same signal. */
  private orAbandon(signal: AbortSignal): AbortSignal {
    if (this.lastAsked?.with !== signal)
      this.lastAsked = { with: signal, either: AbortSignal.any([signal, this.abandon]) };
    return this.lastAsked.either;
  }
}
