import type { ContentBlock, DialectName, Message, NewMessage, Opaque, ProcessorSettings } from '@rondo/contract';
import type { ModelChunk, ModelMessage, ModelTool } from '../models/model';
import type { ToolDefinition } from '../tools/define-tool';

/**
 * A way to let a model call tools. `offer` writes the tools for the model and `encode` the conversation; a decoder reads one
 * reply while it streams. All are pure: any split of a reply into chunks decodes to the same result.
 */
export interface Dialect {
  readonly name: DialectName;
  /** What requests say of the tools: the same in each request, so it is written once for a run. */
  offer(tools: readonly ToolDefinition[], settings: DialectSettings): ToolOffer;
  /** The encoding of a message never changes when later messages follow, so that the provider's prompt cache hits. */
  encode(
    conversation: readonly Message[],
    tools: readonly ToolDefinition[],
    settings: DialectSettings,
  ): readonly ModelMessage[];
  decoder(tools: readonly ToolDefinition[], settings: DialectSettings): ReplyDecoder;
  /** The text of a message in a request, where it is not sent as it is: what is sent is what is counted. */
  readonly writeText?: (message: NewMessage, tools: readonly ToolDefinition[]) => string;
}

export type DialectSettings = Pick<
  ProcessorSettings,
  'xml_adding_strategy' | 'include_xml_examples' | 'max_tool_calls'
> & {
  /** Calls that the model prints as text are calls; see printed-calls.ts. */
  readonly printed_calls?: boolean | undefined;
};

export interface ToolOffer {
  /** Added to the system prompt; empty if the provider takes tools as data. */
  readonly instructions: string;
  /** The format of a whole reply; stands at the end of the system prompt. */
  readonly requirements?: string;
  readonly tools: readonly ModelTool[];
  /** The format that a provider enforces if it can. */
  readonly responseFormat?: { readonly type: 'json_object' };
}

export type ReplyChunk =
  | Exclude<ModelChunk, { type: 'retried' | 'end' | 'text' }>
  | {
      readonly type: 'text';
      readonly text: string;
      /** The text is a mark of thoughts in prose, which may be meant or only spoken of. */
      readonly mark?: 'may open' | 'may close';
    };

/** Reads one reply. Returns each piece of text, reasoning and arguments at most once, in order. */
export interface ReplyDecoder {
  /** The text and the reasoning so far. */
  readonly content: DecodedReply['content'];
  /** The calls that are complete so far. The list only grows, so a call may run while the reply still streams. */
  readonly calls: readonly DecodedCall[];
  /** The limit of calls is reached: the rest of the stream is not read. */
  readonly isFull: boolean;
  /** The text so far ends within a call, whose arguments may be any text. */
  readonly isInCall: boolean;
  push(chunk: ReplyChunk): readonly ReplyPiece[];
  /** Ends the stream, whether the reply was complete or cut off. `isCutOff`: it is known to have reached a limit of its length. */
  end(isCutOff?: boolean): DecodedReply;
}

export type ReplyPiece =
  | { readonly type: 'text' | 'reasoning'; readonly text: string }
  | { readonly type: 'call_arguments'; readonly index: number; readonly name: string; readonly text: string };

export interface DecodedReply {
  /** Text and reasoning in order, without the calls. The text is exactly that of the pieces. */
  readonly content: readonly Exclude<ContentBlock, { type: 'tool_call' | 'tool_result' | 'image' }>[];
  readonly calls: readonly DecodedCall[];
  /** Pieces that were held back because they could have become a call. The caller must show them. */
  readonly rest: readonly ReplyPiece[];
  /** The decision of a reply, if the dialect requires one. Separate from the text, so that a valid "none" is no error. */
  readonly verdict?: ReplyVerdict;
}

export type ReplyVerdict =
  | { readonly decision: 'tool' | 'none' }
  /** `reason` is a sentence for the model. */
  | {
      readonly decision: 'malformed';
      readonly reason: string;
      /** The reply is a call that was printed as text, where such calls are not read. */
      readonly isPrintedCall?: true;
    };

export interface DecodedCall {
  readonly index: number;
  readonly name: string;
  readonly arguments: Record<string, unknown>;
  /** The number of blocks of `content` before the call. Default: all. */
  readonly position?: number;
  /** What is wrong, as a sentence for the model, and the text that the model wrote. */
  readonly malformed?: {
    readonly reason: string;
    readonly written: string;
    /** It is JSON, with a number that would not be kept as it is written. */
    readonly isInexact?: true;
  };
  /** What its provider wants back with it. */
  readonly opaque?: Opaque;
}
