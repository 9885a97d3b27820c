import type { Model, ModelChunk, ModelRequest } from '@rondo/domain';
import { AbandonedError } from '@rondo/run-holder';

interface Parts {
  readonly model: Model;
  readonly abandon: AbortSignal;
  readonly isShuttingDown: () => boolean;
}

/**
 * A model whose streams end at once when the run is abandoned. Unlike a stop this completes no reply: nothing more of the
 * loop is written, so the next holder withdraws the partial reply and calls the model again.
 *
 * A reply that is lost while the worker shuts down abandons the run too. What carries the connection often ends at the same
 * time, so the loss says nothing about the model, and it must not count as one of the attempts at a reply.
 */
export class AbandonableModel implements Model {
  private lastSignals: { readonly with: AbortSignal; readonly either: AbortSignal } | undefined;

  constructor(private readonly parts: Parts) {}

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<readonly ModelChunk[], void> {
    for await (const chunks of this.parts.model.stream(request, this.orAbandon(signal))) {
      if (this.parts.isShuttingDown() && chunks.some(isLoss))
        throw new AbandonedError('a reply was lost while the worker shuts down');
      yield chunks;
    }
  }

  /** Reuses the combined signal, since most calls of a run pass the same one. */
  private orAbandon(signal: AbortSignal): AbortSignal {
    if (this.lastSignals?.with !== signal)
      this.lastSignals = { with: signal, either: AbortSignal.any([signal, this.parts.abandon]) };
    return this.lastSignals.either;
  }
}

const isLoss = (chunk: ModelChunk): boolean =>
  chunk.type === 'end' && (chunk.how === 'broken' || chunk.how === 'failed');
