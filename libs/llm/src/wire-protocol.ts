import type { FinishReason } from '@rondo/contract';
import type { ModelRequest, ReplyChunk } from '@rondo/domain';
import type { ProviderError } from './provider-error';

/** What one provider's protocol knows; everything else about asking a model is the same for all. */
export interface WireProtocol {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** What is posted, as JSON. The same conversation with more behind it begins with the same text (LM4). */
  body(request: ModelRequest): string;
  reader(): ReplyReader;
}

/** Reads one reply, event by event. */
export interface ReplyReader {
  /** Adds what an event says to `chunks`. Throws a ProviderError where it says that the reply failed. */
  read(event: string, chunks: ReplyChunk[]): void;
  /** The provider's reason why the reply ended; undefined as long as it gave none (R3). */
  readonly ending: ReplyEnding | undefined;
  /** No event follows. */
  readonly complete: boolean;
  readonly usage: ReportedUsage;
}

export type ReplyEnding =
  | { readonly finishReason: Extract<FinishReason, 'stop' | 'length' | 'tool_calls'> }
  | { readonly error: ProviderError };

/** Tokens as far as the provider has told. `input` counts everything in the prompt, whether it was cached or not. */
export interface ReportedUsage {
  readonly input?: number | undefined;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  readonly output?: number | undefined;
}
