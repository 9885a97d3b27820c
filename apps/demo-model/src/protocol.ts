import type { IncomingHttpHeaders } from 'node:http';
import type { Refusal } from './refusal';
import type { Conversation } from './script/script-conversation';
import type { Turn } from './script/turn';

export interface PromptPart {
  readonly text: string;
  /** As many characters of text cost as much. */
  readonly chars: number;
  /** The provider keeps the prompt up to here. */
  readonly marked: boolean;
}

/** A request that the provider would take. */
export interface Asked {
  readonly model: string;
  readonly stream: boolean;
  /** Whether the stream ends with the usage. */
  readonly includeUsage: boolean;
  /** How many messages the request held. */
  readonly messages: number;
  /** All that the model has to read, in the order in which it does. */
  readonly prompt: readonly PromptPart[];
  readonly conversation: Conversation;
}

export interface Usage {
  /** Includes those that the cache was read for, and those that were written to it. */
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
