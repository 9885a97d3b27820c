import { type FinishReason, reasoningEffort } from '@rondo/contract';
import type { CallNotes, ModelRequest, ReplyChunk } from '@rondo/domain';
import type { z } from 'zod';
import { ProviderError, failureIn } from './provider-error';

/** What differs between the protocols of providers; the rest of a model call is the same for all. */
export interface WireProtocol {
  request(request: ModelRequest): WireRequest;
  /** A reader of the reply to this request. */
  reader(request: ModelRequest): ReplyReader;
  /** Whether a refused request is worth another attempt, because the protocol has learned from the refusal. Absent: never. */
  learn?(request: ModelRequest, error: ProviderError): boolean;
}

/** A request as its SDK sends it. */
export interface WireRequest {
  /** Below the base URL, as the SDK names it: `/chat/completions`. */
  readonly path: string;
  /**
   * The parameters in the SDK's types, the messages last. The lists of a conversation that grew begin with the same elements, so
   * that prompt caches hit, and so that only what is new is serialized.
   */
  readonly params: WireParams;
  /** How many elements at the end of a list may differ in the next request, and are serialized again. */
  readonly unsettled: number;
  /** How it differs from what the run asked for. */
  readonly notes?: CallNotes;
  /** The model thinks for minutes before its first word, and nothing of that is shown. Default: false. */
  readonly thinksLong?: boolean;
}

interface SentRequest {
  /** The parameter of the request, which may be of any kind where it is one of the run's own. */
  readonly effort: unknown;
  readonly omittedTools: readonly string[];
  readonly omittedParameters: readonly string[];
}

export function toNotes({ effort: sent, omittedTools, omittedParameters }: SentRequest): CallNotes {
  const effort = reasoningEffort.safeParse(sent).data;
  return {
    ...(effort && { effort }),
    ...(omittedTools.length > 0 && { omittedTools }),
    ...(omittedParameters.length > 0 && { omittedParameters }),
  };
}

/** The parameters of any SDK's request. */
export interface WireParams {
  readonly model: string;
  readonly stream?: boolean | null;
}

/** Reads one reply, event by event. */
export interface ReplyReader {
  /** Appends the chunks of an event, which may have a name beside its data. Throws a ProviderError where it reports a failure. */
  read(data: string, chunks: ReplyChunk[], name?: string): void;
  /** Appends the chunks of a reply that came as one JSON body. */
  readWhole(body: string, chunks: ReplyChunk[]): void;
  /** The provider's finish reason; undefined until it arrives. */
  readonly ending: ReplyEnding | undefined;
  /** No event follows. */
  readonly complete: boolean;
  /** The model is at something that its server may send only when it is whole: a thought, or the arguments of a call. */
  readonly isUnseen: boolean;
  readonly usage: ReportedUsage;
}

/** `word`: the provider's own for it. */
export type ReplyEnding = { readonly word?: string } & (
  { readonly finishReason: Extract<FinishReason, 'stop' | 'length' | 'tool_calls'> } | { readonly error: ProviderError }
);

/** Tokens as far as the provider has reported them. `input` is the whole prompt, cached or not. */
export interface ReportedUsage {
  readonly input?: number | undefined;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  /** How much of that is kept for an hour. */
  readonly cacheWriteHour?: number;
  readonly output?: number | undefined;
  /** How much of that the model reasoned with. */
  readonly reasoning?: number;
  /** What the provider says that the call costs. */
  readonly costUsd?: number;
}

/**
 * Parses the data of a stream's event; where it has no type, the name of the event is its type. Throws what the provider says
 * where it reports a failure, and on anything unknown, because the rest of such a stream cannot be trusted.
 */
export function parseEvent<Event>(schema: z.ZodType<Event>, data: string, name?: string): Event {
  const json = parseJson(data);
  const named = name !== undefined && isUntyped(json) ? { ...json, type: name } : json;
  const failure = failureIn(named);
  if (failure) throw failure;
  const parsed = schema.safeParse(named);
  if (parsed.success) return parsed.data;
  throw new ProviderError('api_error', 'The provider sent an event of an unknown shape.');
}

const isUntyped = (json: unknown): json is object =>
  typeof json === 'object' && json !== null && !Array.isArray(json) && !('type' in json);

function parseJson(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    throw new ProviderError('api_error', `The provider sent an event that is not JSON: ${data.slice(0, 200)}`);
  }
}

/** Sent in place of an image whose bytes were not found. */
export const lostImage = '(An image that is not kept any more.)';

/** Sent in place of an image URL that was not fetched. The URL itself is never sent: a provider must not fetch it. */
export const unloadedImage = '(An image that was not loaded.)';

/** Sent in place of an image to a model that reads only text, so that it can say so. */
export const unseenImage = '(An image, which this model cannot see.)';

/** Sent in place of an image that its provider has refused: it is too large, one of too many, or no image that it knows. */
export const refusedImage = '(An image that cannot be shown: the provider of the model refused it.)';

/** Sent in place of a PDF that the model does not read, or that its provider has refused. */
export const unreadDocument = (name: string): string =>
  `(The PDF ${name} is not shown to this model; a tool can read its text.)`;

/** Sent in place of a PDF whose bytes were not found. */
export const lostDocument = (name: string): string => `(The PDF ${name}, which is not kept any more.)`;

/** A tool name that every provider accepts: a model may have called a tool by a name that they refuse. */
export const wireToolName = (name: string): string => name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64) || 'unnamed';
