import type { ContentBlock } from '../content';
import type { Message } from '../message';
import type { ModelChunk, ModelMessage, ModelTool } from '../model';
import type { DialectName } from '../tool-call';
import type { ToolDefinition } from '../tools/define-tool';

/**
 * A way to let a model call tools. `encode` says the tools and the conversation in the model's terms; a decoder reads
 * one reply as it streams. Both are pure: any split of a reply into chunks decodes to the same result.
 */
export interface Dialect {
  readonly name: DialectName;
  encode(conversation: readonly Message[], tools: readonly ToolDefinition[]): EncodedConversation;
  decoder(): ReplyDecoder;
}

export interface EncodedConversation {
  /** What the dialect adds to the system prompt; empty where the provider knows tools itself. */
  readonly instructions: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ModelTool[];
}

export type ReplyChunk = Exclude<ModelChunk, { type: 'retried' | 'end' }>;

/** Reads one reply. Each text, reasoning or argument unit of the model is passed on exactly once. */
export interface ReplyDecoder {
  push(chunk: ReplyChunk): readonly ReplyPiece[];
  /** The reply is over, whether it ended or was cut: what it says as a whole. */
  end(): DecodedReply;
}

export type ReplyPiece =
  | { readonly type: 'text' | 'reasoning'; readonly text: string }
  | { readonly type: 'call_arguments'; readonly index: number; readonly name: string; readonly text: string };

export interface DecodedReply {
  /** Text and reasoning in order; the calls are listed apart. */
  readonly content: readonly Exclude<ContentBlock, { type: 'tool_call' | 'tool_result' | 'image' }>[];
  readonly calls: readonly DecodedCall[];
}

export interface DecodedCall {
  readonly index: number;
  readonly name: string;
  readonly arguments: Record<string, unknown>;
  /** What is wrong with it, in words for the model, and what it wrote instead. */
  readonly malformed?: { readonly reason: string; readonly written: string };
}
