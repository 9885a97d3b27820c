import type { Model, ModelChunk, ModelRequest } from '@rondo/domain';

/**
 * A model whose streams end at once when the run is abandoned. Unlike a stop this completes no reply: nothing more of the
 * loop is written, so the next holder withdraws the partial reply and calls the model again.
 */
export class AbandonableModel implements Model {
  private lastSignals: { readonly with: AbortSignal; readonly either: AbortSignal } | undefined;

  constructor(
    private readonly model: Model,
    private readonly abandon: AbortSignal,
  ) {}

  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<readonly ModelChunk[]> {
    return this.model.stream(request, this.orAbandon(signal));
  }

  /** Reuses the combined signal, since most calls of a run pass the same one. */
  private orAbandon(signal: AbortSignal): AbortSignal {
    if (this.lastSignals?.with !== signal)
      this.lastSignals = { with: signal, either: AbortSignal.any([signal, this.abandon]) };
    return this.lastSignals.either;
  }
}
