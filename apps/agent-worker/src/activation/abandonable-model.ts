import type { Model, ModelChunk, ModelRequest } from '@rondo/domain';

/**
 * A model whose streams end at once when the run is left. That is no stop: whoever leaves takes nothing more from the
 * loop, so the reply is withdrawn and asked for anew elsewhere.
 */
export class AbandonableModel implements Model {
  private lastAsked: { readonly with: AbortSignal; readonly either: AbortSignal } | undefined;

  constructor(
    private readonly model: Model,
    private readonly abandon: AbortSignal,
  ) {}

  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<readonly ModelChunk[]> {
    return this.model.stream(request, this.orAbandon(signal));
  }

  /** Most calls of a run come with the same signal. */
  private orAbandon(signal: AbortSignal): AbortSignal {
    if (this.lastAsked?.with !== signal)
      this.lastAsked = { with: signal, either: AbortSignal.any([signal, this.abandon]) };
    return this.lastAsked.either;
  }
}
