import type {
  CallId,
  FinishReason,
  ImageMediaType,
  KeptSource,
  LlmSettings,
  Opaque,
  ReasoningBlock,
  ReasoningEffort,
  RunError,
  Sha256,
  Usage,
} from '@rondo/contract';

/** A request to a model: what the dialect has encoded, in a form that depends on no provider. */
export interface ModelRequest {
  /** `provider/model`. */
  readonly model: string;
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ModelTool[];
  readonly settings: LlmSettings;
  /** The account that the request is made for. It is not sent. */
  readonly account?: string;
  /** Another model is asked if this one is away, so a long wait for it is not worth it. */
  readonly hasFallback?: boolean;
  /** The run has waited for minutes before, so a provider should keep what it caches of the request for longer than five. */
  readonly waitsLong?: boolean;
  /** Earlier attempts at this reply that broke off. The pause after another one is longer. Default: none. */
  readonly lostReplies?: number;
  /** The pause before the request, in milliseconds, which the end of the attempt before has asked for. Default: none. */
  readonly delayMs?: number;
}

/** The most attempts at a reply that breaks off or is empty. */
export const maxReplyAttempts = 3;

/** Valid for any provider (I6): starts with `user`; a `tool` message answers exactly the calls of the `assistant` before it. */
export type ModelMessage =
  | {
      readonly role: 'user';
      readonly content: readonly ShownBlock[];
      /** How many blocks at its end are for this request alone; what a cache is to keep ends before them. Default: 0. */
      readonly temporary?: number;
    }
  | { readonly role: 'assistant'; readonly content: readonly AssistantBlock[] }
  | { readonly role: 'tool'; readonly results: readonly ModelToolResult[] };

export type ShownBlock =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly source: ShownImage }
  | ShownDocument;

/** Providers count a page of a PDF as its text and as an image; most pages have fewer. */
export const tokensPerPage = 3_000;

/** A PDF that came with a message. `data`, its bytes as base64, is there once the agent-worker has read them. */
export interface ShownDocument {
  readonly type: 'document';
  readonly name: string;
  readonly sha256: Sha256;
  readonly pages: number;
  readonly data?: string;
}

/** The loop refers to blobs; before the request, the agent-worker replaces them by their bytes, or by a note if they are gone. */
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
      readonly opaque?: Opaque;
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

/** The output of a model, in order. The last chunk is always `end`, also after an abort or a failure. */
export type ModelChunk =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'reasoning'; readonly text: string }
  /** Ends the reasoning so far. `opaque` belongs to it, or stands for reasoning that the provider hides. */
  | { readonly type: 'reasoning_end'; readonly opaque?: Opaque }
  /** `index` counts the calls of this reply from 0. */
  | { readonly type: 'call_start'; readonly index: number; readonly name: string; readonly opaque?: Opaque }
  | { readonly type: 'call_arguments'; readonly index: number; readonly text: string }
  /**
   * What is known of a call only later: its `opaque`; or `problem`, a sentence for the model about a call of which it cannot be
   * told what the model wrote. Not every call has it.
   */
  | { readonly type: 'call_end'; readonly index: number; readonly opaque?: Opaque; readonly problem?: string }
  /** The request is repeated after `delayMs`, before any output: the provider refused it. */
  | {
      readonly type: 'retried';
      readonly attempt: number;
      readonly delayMs: number;
      readonly error: RunError;
      /** The provider whose pace the request waits for; then nothing was refused. */
      readonly pacedBy?: string;
    }
  | ModelEnd;

/** How a request differed from what the run asked for, and how its provider ended it. */
export interface CallNotes {
  /** The provider's own word for the end of the reply. */
  readonly finishReason?: string;
  /** How much the model was asked to reason. */
  readonly effort?: ReasoningEffort;
  /** Tools that were not offered, because the provider takes no more, or refused them. */
  readonly omittedTools?: readonly string[];
  /** Parameters that were left out, because the provider refuses them. */
  readonly omittedParameters?: readonly string[];
}

/**
 * How a reply ended. `finished`: the provider gave a finish reason. `aborted`: our signal closed the stream.
 * `broken`: the stream ended without a finish reason, or failed in a way that a new request may not.
 * `failed`: a new request would fail as well.
 */
export type ModelEnd = {
  readonly type: 'end';
  /** Undefined if nothing was billed. `estimated` if the provider did not report it. */
  readonly usage?: Usage & {
    readonly estimated: boolean;
    /** The cost at the price that is known here, in USD, where the provider named its own, which is `cost_usd`. */
    readonly listCostUsd?: number;
    /** Of the input, what was put into the cache, and of the output, what was reasoned, where the provider said so. */
    readonly cacheWriteTokens?: number;
    readonly reasoningTokens?: number;
  };
  /** What the run shows of the call. */
  readonly notes?: CallNotes;
} & (
  | { readonly how: 'finished'; readonly finishReason: Extract<FinishReason, 'stop' | 'length' | 'tool_calls'> }
  | { readonly how: 'aborted' }
  | { readonly how: 'failed'; readonly error: RunError }
  /** A new request is to wait for `retryAfterMs`. */
  | { readonly how: 'broken'; readonly error: RunError; readonly retryAfterMs?: number }
);

/** The error code of a request that is too long for its model: only a shorter one can succeed. */
export const contextOverflow = 'context_window_exceeded';
