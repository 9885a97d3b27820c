import { readJson } from '@rondo/contract';
import { z } from 'zod';

/** What a refusal says, whatever its form. */
export interface RefusalDetail {
  /** The reason for people. Undefined if there is none. */
  readonly text: string | undefined;
  /** The kinds that it names: `type`, `code` and `status`, of all its levels. */
  readonly names: readonly string[];
  /** An HTTP status that stands only in the body. */
  readonly status: number | undefined;
  /** A pause that stands only in the body. */
  readonly retryAfterMs: number | undefined;
}

/**
 * Reads the body of a refusal or an error in a stream: an object with or without `error`, a list of them, `detail` as in
 * FastAPI, an error as text, JSON within a text (OpenRouter quotes the maker's answer), plain text, or a page of HTML.
 */
export function readRefusal(body: unknown): RefusalDetail {
  const levels = findLevels(typeof body === 'string' ? (parseJson(body) ?? body) : body);
  const texts = [...new Set(levels.flatMap(({ text }) => (text ? [text] : [])))];
  const text = texts.length > 0 ? texts.join(': ') : undefined;
  return {
    text,
    names: levels.flatMap(({ names }) => names),
    status: levels.map(({ status }) => status).find((status) => status !== undefined),
    retryAfterMs: longest([...levels.map(({ pauseMs }) => pauseMs), text === undefined ? undefined : pauseIn(text)]),
  };
}

interface Level {
  readonly text?: string | undefined;
  readonly names: readonly string[];
  readonly status?: number | undefined;
  readonly pauseMs?: number | undefined;
}

const anything = z.unknown().optional();
const fields = z.looseObject({
  error: anything,
  errors: anything,
  detail: anything,
  details: anything,
  message: anything,
  Message: anything,
  msg: anything,
  errorMessage: anything,
  error_msg: anything,
  base_resp: anything,
  metadata: anything,
  type: anything,
  code: anything,
  status: anything,
  retryDelay: anything,
  retry_after: anything,
  estimated_time: anything,
  loc: anything,
});

/** Deeper bodies say nothing more. */
const maxDepth = 6;

/** The levels of a body, from the outside in. */
function findLevels(body: unknown, depth = 0): Level[] {
  if (depth > maxDepth || body === null || body === undefined) return [];
  if (typeof body === 'string') return body.trim() === '' ? [] : [{ text: plain(body), names: [] }];
  if (Array.isArray(body)) return body.slice(0, 5).flatMap((one) => findLevels(one, depth + 1));
  const found = fields.safeParse(body);
  if (!found.success) return [];
  const { details, metadata, base_resp, ...own } = found.data;
  const inner = [...reasonsIn(own), readQuoted(metadata)].flatMap((part) => findLevels(part, depth + 1));
  const pauses = findLevels(details, depth + 1).map(({ pauseMs }) => ({ names: [], pauseMs }));
  const known = { names: namesIn(details), pauseMs: pauseUntilReset(metadata) };
  return [ownLevel(own), ...inner, ...miniMaxLevels(base_resp), ...pauses, known];
}

/** OpenRouter quotes there when a limit of its own ends, as a time in milliseconds since 1970. */
const limitHeaders = z.object({ headers: z.object({ 'X-RateLimit-Reset': z.coerce.number() }) });

function pauseUntilReset(metadata: unknown): number | undefined {
  const at = limitHeaders.safeParse(metadata).data?.headers['X-RateLimit-Reset'] ?? 0;
  const pauseMs = at - Date.now();
  return pauseMs > 0 ? pauseMs : undefined;
}

/** Anthropic says there which of several limits a 429 is about. */
const preciseCode = z.object({ error_code: z.string() });
const namesIn = (details: unknown): string[] => Object.values(preciseCode.safeParse(details).data ?? {});

/** The fields in which servers say why they refuse, by the many names that these have. */
const reasonsIn = (body: z.infer<typeof fields>): unknown[] => {
  const { error, errors, detail, message, Message, msg, errorMessage, error_msg } = body;
  return [error, errors, detail, message, Message, msg, errorMessage, error_msg];
};

/** Whether a body without a reply in it tells of a failure, though its status was good. */
export function saysFailure(body: object): boolean {
  const { error: _, ...found } = fields.safeParse(body).data ?? {};
  return [...reasonsIn(found), ...miniMaxLevels(found.base_resp)].some(
    (reason) => (typeof reason === 'object' && reason !== null ? Object.keys(reason).length > 0 : Boolean(reason)), // an empty list of errors is none
  );
}

/** MiniMax answers with a good status whatever happened; the codes of its documentation as the statuses that others have. */
const miniMaxStatuses: Readonly<Record<number, number>> = {
  ...{ 1000: 500, 1001: 504, 1002: 429, 1004: 401, 1008: 402, 1013: 500, 1024: 500, 1026: 400, 1027: 400 },
  ...{ 1033: 500, 1039: 429, 1041: 429, 2013: 400, 2049: 401 },
};

const miniMaxFailure = z.object({ status_code: z.number().positive(), status_msg: z.string() });

function miniMaxLevels(base: unknown): Level[] {
  const { data } = miniMaxFailure.safeParse(base);
  return data ? [{ text: data.status_msg, names: [], status: miniMaxStatuses[data.status_code] }] : [];
}

type Own = Pick<
  z.infer<typeof fields>,
  'type' | 'code' | 'status' | 'retryDelay' | 'retry_after' | 'estimated_time' | 'loc'
>;

function ownLevel({ type, code, status, retryDelay, retry_after, estimated_time, loc }: Own): Level {
  const seconds = longest([secondsIn(retryDelay), secondsIn(retry_after), secondsIn(estimated_time)]);
  return {
    text: Array.isArray(loc) ? loc.join('.') : undefined,
    names: [type, code, status].filter((name) => typeof name === 'string'),
    status: [code, status].map(Number).find((number) => Number.isInteger(number) && number >= 400 && number < 600),
    pauseMs: seconds === undefined ? undefined : seconds * 1_000,
  };
}

/** OpenRouter's quotation of what the maker of the model answered. */
function readQuoted(metadata: unknown): unknown {
  const quoted = z.object({ raw: z.unknown() }).safeParse(metadata);
  const raw = quoted.success ? quoted.data.raw : undefined;
  return typeof raw === 'string' ? (parseJson(raw) ?? raw) : raw;
}

/** An object or list; undefined for text that is none. */
function parseJson(text: string): object | undefined {
  const value = readJson(text);
  return typeof value === 'object' && value !== null ? value : undefined;
}

/** A page is read without its markup: its title and words often name what stands between us and the provider. */
function plain(text: string): string {
  if (!/^\s*(?:<!doctype|<html|<\?xml|<head|<body)/i.test(text)) return text;
  const words = text
    .replace(/<(script|style)\b[\s\S]*?<\/\1>/gi, ' ')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  return `A web page came in place of an answer: ${words.slice(0, 200) || '(empty)'}`;
}

const longest = (numbers: readonly (number | undefined)[]): number | undefined => {
  const given = numbers.filter((number) => number !== undefined);
  return given.length > 0 ? Math.max(...given) : undefined;
};

/** Of a number, or of text such as `1.5s`. */
function secondsIn(value: unknown): number | undefined {
  const seconds = typeof value === 'number' ? value : typeof value === 'string' ? Number(value.replace(/s$/, '')) : NaN;
  return Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined;
}

const pauseWords =
  /\b(?:try again|retry|wait|available again)\s+(?:in|after|for)?\s*(?:about\s+|at least\s+)?((?:[\d.]+\s*(?:ms|milliseconds?|h|hours?|m|min|minutes?|s|sec|seconds?)(?![a-z])\s*)+)/i;

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** Of a sentence such as "Please try again in 1m6.5s." */
function pauseIn(text: string): number | undefined {
  const written = pauseWords.exec(text)?.[1];
  if (!written) return undefined;
  const parts = [...written.matchAll(/([\d.]+)\s*(ms|milli|[hms])/gi)];
  const pauseMs = parts.reduce(
    (sum, [, amount, unit = '']) => sum + Number(amount) * (unitMs[shortUnit(unit)] ?? 0),
    0,
  );
  return Number.isFinite(pauseMs) ? Math.ceil(pauseMs) : undefined;
}

const shortUnit = (unit: string): string => (unit.toLowerCase() === 'milli' ? 'ms' : unit.toLowerCase());
