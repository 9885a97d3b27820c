import type { IncomingHttpHeaders } from 'node:http';
import type { Refusal } from './refusal';
import type { Conversation } from './script/script-conversation';
import type { Turn } from './script/turn';

export interface PromptPart {
  readonly text: string;
  /** Its cost, as a number of characters of text. */
  readonly chars: number;
  /** A cache mark: the provider caches the prompt up to here. */
  readonly marked: boolean;
}

/** A request that the provider would accept. */
export interface Asked {
  readonly model: string;
  readonly stream: boolean;
  /** Whether the stream ends with the usage. */
  readonly includeUsage: boolean;
  /** The number of messages in the request. */
  readonly messages: number;
  /** The prompt, in the order in which the model reads it. */
  readonly prompt: readonly PromptPart[];
  readonly conversation: Conversation;
}

export interface Usage {
  /** Includes tokens that were read from the cache or written to it. */
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly writtenTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
}

export interface Reply {
  /** The same for every attempt at the same conversation. */
  readonly key: string;
  readonly asked: Asked;
  readonly turn: Turn;
  readonly usage: Usage;
}

/** One server-sent event. `outputChars` is 0 where it carries no output of the model. */
export interface Frame {
  readonly text: string;
  readonly outputChars: number;
}

export interface WireError {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: object;
}

/** A provider's wire format. */
export interface Protocol {
  readonly name: 'openai' | 'anthropic';
  /** Throws a Violation for anything that the provider would answer with 400. */
  read(body: unknown, headers: IncomingHttpHeaders): Asked;
  frames(reply: Reply): Iterable<Frame>;
  whole(reply: Reply): object;
  error(refusal: Refusal): WireError;
  /** The same error inside a stream that has begun. */
  errorFrame(refusal: Refusal): string;
}
