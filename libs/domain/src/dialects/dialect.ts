import type { ContentBlock, DialectName, Message, ProcessorSettings } from '@rondo/contract';
import type { ModelChunk, ModelMessage, ModelTool } from '../models/model';
import type { ToolDefinition } from '../tools/define-tool';

/**
 * A way to let a model call tools. `encode` says the tools and the conversation in the model's terms; a decoder reads
 * one reply as it streams. Both are pure: any split of a reply into chunks decodes to the same result.
 */
export interface Dialect {
  readonly name: DialectName;
  /** What is said of a message never changes when later ones follow, so that a provider's prompt cache hits. */
  encode(
    conversation: readonly Message[],
    tools: readonly ToolDefinition[],
    settings: DialectSettings,
  ): EncodedConversation;
  decoder(tools: readonly ToolDefinition[], settings: DialectSettings): ReplyDecoder;
}

export type DialectSettings = Pick<
  ProcessorSettings,
  'xml_adding_strategy' | 'include_xml_examples' | 'max_tool_calls'
>;

export interface EncodedConversation {
  /** What the dialect adds to the system prompt; empty where the provider knows tools itself. */
  readonly instructions: string;
  /** What it demands of a whole reply: the last words of the system prompt. */
  readonly requirements?: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ModelTool[];
  /** What the dialect wants of providers that can hold a model to a format. */
  readonly responseFormat?: { readonly type: 'json_object' };
}

export type ReplyChunk = Exclude<ModelChunk, { type: 'retried' | 'end' }>;

/** Reads one reply. Each text, reasoning or argument unit of the model is passed on at most once, in order. */
export interface ReplyDecoder {
  /** The text and the reasoning so far. */
  readonly content: DecodedReply['content'];
  /** The calls that are complete so far. It only grows, so a call may run while the model still speaks. */
  readonly calls: readonly DecodedCall[];
  /** It has read as many calls as a reply may hold: the rest of the stream is not wanted, and not read. */
  readonly isFull: boolean;
  push(chunk: ReplyChunk): readonly ReplyPiece[];
  /** The reply is over, whether it ended or was cut: what it says as a whole. */
  end(): DecodedReply;
}

export type ReplyPiece =
  | { readonly type: 'text' | 'reasoning'; readonly text: string }
  | { readonly type: 'call_arguments'; readonly index: number; readonly name: string; readonly text: string };

export interface DecodedReply {
  /** Text and reasoning in order; the calls are listed apart. The text is exactly what the pieces showed. */
  readonly content: readonly Exclude<ContentBlock, { type: 'tool_call' | 'tool_result' | 'image' }>[];
  readonly calls: readonly DecodedCall[];
  /** Pieces that were held back while they could still have become a call; to be shown now. */
  readonly rest: readonly ReplyPiece[];
  /** What a reply decided, where the dialect asks for a decision: kept apart from its words (W40). */
  readonly verdict?: ReplyVerdict;
}

export type ReplyVerdict =
  | { readonly decision: 'tool' | 'none' }
  /** `reason` is for the model. */
  | { readonly decision: 'malformed'; readonly reason: string };

export interface DecodedCall {
  readonly index: number;
  readonly name: string;
  readonly arguments: Record<string, unknown>;
  /** How many blocks of `content` come before it; all of them where it is absent. */
  readonly position?: number;
  /** What is wrong with it, in words for the model, and what it wrote instead. */
  readonly malformed?: { readonly reason: string; readonly written: string };
}
