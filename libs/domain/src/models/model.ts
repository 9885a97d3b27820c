import type {
  CallId,
  FinishReason,
  ImageMediaType,
  KeptSource,
  LlmSettings,
  ReasoningBlock,
  RunError,
  Usage,
} from '@rondo/contract';

/** What a provider is asked, after the dialect has said everything in the provider's terms but in no provider's shape. */
export interface ModelRequest {
  /** `provider/model`. */
  readonly model: string;
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ModelTool[];
  readonly settings: LlmSettings;
}

/** Valid for any provider (I6): starts with `user`; a `tool` message answers exactly the calls of the `assistant` before it. */
export type ModelMessage =
  | { readonly role: 'user'; readonly content: readonly ShownBlock[] }
  | { readonly role: 'assistant'; readonly content: readonly AssistantBlock[] }
  | { readonly role: 'tool'; readonly results: readonly ModelToolResult[] };

export type ShownBlock =
  { readonly type: 'text'; readonly text: string } | { readonly type: 'image'; readonly source: ShownImage };

/** The loop refers to blobs; whoever asks a provider puts their bytes in. A blob that is gone is told of in words. */
export type ShownImage =
  KeptSource | { readonly type: 'base64'; readonly media_type: ImageMediaType; readonly data: string };

export type AssistantBlock =
  | ReasoningBlock
  | { readonly type: 'text'; readonly text: string }
  | {
      readonly type: 'tool_call';
      readonly id: CallId;
      readonly name: string;
      readonly arguments: Record<string, unknown>;
    };

export interface ModelToolResult {
  readonly tool_call_id: CallId;
  readonly text: string;
  readonly is_error: boolean;
  readonly image?: ShownImage;
}

export interface ModelTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly schema: Record<string, unknown>;
}

/** What a model says, in order. The last chunk is always `end`, also after an abort or a failure. */
export type ModelChunk =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'reasoning'; readonly text: string }
  /** Closes the reasoning so far; what the provider wants to see again unchanged. */
  | { readonly type: 'reasoning_end'; readonly signature?: string; readonly redacted?: string }
  /** `index` counts the calls of this reply from 0. */
  | { readonly type: 'call_start'; readonly index: number; readonly name: string }
  | { readonly type: 'call_arguments'; readonly index: number; readonly text: string }
  /** The provider refused before the first output and will be asked again after `delayMs` (R4). */
  | { readonly type: 'retried'; readonly attempt: number; readonly delayMs: number; readonly error: RunError }
  | ModelEnd;

/**
 * How a reply ended. `finished`: the provider gave its reason. `aborted`: our signal closed the stream.
 * `broken`: the stream ended without a reason after output, or transiently failed (asking anew may help).
 * `failed`: it cannot help.
 */
export type ModelEnd = {
  readonly type: 'end';
  /** Undefined where nothing was billed. `estimated` when the provider did not report it. */
  readonly usage?: Usage & { readonly estimated: boolean };
} & (
  | { readonly how: 'finished'; readonly finishReason: Extract<FinishReason, 'stop' | 'length' | 'tool_calls'> }
  | { readonly how: 'aborted' }
  | { readonly how: 'broken' | 'failed'; readonly error: RunError }
);

/** The code of the error where a prompt is too long for its model: asking again helps only with a shorter one. */
export const contextOverflow = 'context_window_exceeded';

/**
 * A language model behind a provider. Says what it says in batches, as it comes; none of them is empty, and the last
 * chunk of the last one is `end`. Never rejects: what goes wrong is said in the `end` chunk.
 */
export interface Model {
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<readonly ModelChunk[]>;
}
