import type { IncomingHttpHeaders } from 'node:http';
import type { ModelErrorCode } from '@rondo/contract';
import { z } from 'zod';
import { ReplyHeaders } from './http/lean-fetch';

/** A provider refused, failed or did not respond. `transient`: trying again may help. */
export class ProviderError extends Error {
  override readonly name = 'ProviderError';
  readonly transient: boolean;
  readonly retryAfterMs: number | undefined;

  constructor(
    readonly code: ModelErrorCode,
    message: string,
    options: { transient?: boolean; retryAfterMs?: number | undefined } = {},
  ) {
    super(message);
    this.transient = options.transient ?? transientCodes.has(code);
    this.retryAfterMs = options.retryAfterMs;
  }
}

const transientCodes: ReadonlySet<ModelErrorCode> = new Set([
  'rate_limit',
  'service_unavailable',
  'api_error',
  'connection_error',
  'timeout',
]);

/** An error as in the body of a response or an event of a stream. Servers that imitate a protocol leave fields out. */
const errorDetail = z
  .object({
    type: z.string().nullish().catch(null),
    code: z.union([z.string(), z.number()]).nullish().catch(null),
    message: z.string().nullish().catch(null),
  })
  .catch({});

/** Classifies a provider's refusal by its status, unless the body is more specific. */
export function refusal(response: {
  status?: number | undefined;
  detail: unknown;
  headers?: IncomingHttpHeaders;
}): ProviderError {
  const { type, code, message } = errorDetail.parse(response.detail);
  const text =
    message ??
    (typeof response.detail === 'string' && response.detail !== '' ? response.detail : 'The provider gave no reason.');
  const status = response.status ?? statusIn(type, code);
  const names = [type, code].filter((name) => typeof name === 'string');
  const found = codeByName(names) ?? codeByText(status, text) ?? codeByStatus(status);
  const advice = response.headers?.['x-should-retry'];
  return new ProviderError(found, text, {
    ...(advice === 'true' || advice === 'false' ? { transient: advice === 'true' } : undefined),
    retryAfterMs: retryAfterMs(response.headers),
  });
}

/** How long the client should wait before it tries again: `retry-after-ms`, or `retry-after` as seconds or as a date. */
export function retryAfterMs(headers: IncomingHttpHeaders = {}): number | undefined {
  const milliseconds = headers['retry-after-ms'];
  if (milliseconds && Number(milliseconds) >= 0) return Number(milliseconds);

  const value = headers['retry-after'];
  if (!value) return undefined;
  if (Number(value) >= 0) return Math.ceil(Number(value) * 1000);
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}

/** An error event has no status of its own; some name one. */
function statusIn(type: string | null | undefined, code: string | number | null | undefined): number | undefined {
  if (typeof code === 'number') return code;
  return type === 'invalid_request_error' ? 400 : undefined;
}

/** The names of errors. Those that a status expresses too are needed for errors inside streams, which have none. */
const codesByName: Readonly<Record<string, ModelErrorCode>> = {
  context_length_exceeded: 'context_window_exceeded',
  request_too_large: 'context_window_exceeded',
  insufficient_quota: 'budget_exceeded',
  billing_error: 'budget_exceeded',
  contract_spend_limit_reached: 'budget_exceeded',
  content_filter: 'content_policy_violation',
  content_policy_violation: 'content_policy_violation',
  model_not_found: 'not_found',
  not_found_error: 'not_found',
  invalid_api_key: 'authentication',
  authentication_error: 'authentication',
  permission_error: 'authentication',
  rate_limit_error: 'rate_limit',
  rate_limit_exceeded: 'rate_limit',
  overloaded_error: 'service_unavailable',
  timeout_error: 'timeout',
};

function codeByName(names: readonly string[]): ModelErrorCode | undefined {
  return names.map((name) => codesByName[name]).find((code) => code !== undefined);
}

/** Causes that only the message of a rejected request tells apart. */
const tooLong = /context (?:length|window)|prompt is too long|maximum context|exceed context limit/i;
const notSupported =
  /model\b.*\b(?:not supported|unsupported|does not support)|not supported (?:for|by|with) this model/i;
const policy = /content (?:management )?policy|safety system/i;

function codeByText(status: number | undefined, text: string): ModelErrorCode | undefined {
  if (status !== undefined && status !== 400 && status !== 413 && status !== 422) return undefined;
  if (tooLong.test(text)) return 'context_window_exceeded';
  if (policy.test(text)) return 'content_policy_violation';
  return notSupported.test(text) ? 'model_not_supported' : undefined;
}

const codesByStatus: Readonly<Record<number, ModelErrorCode>> = {
  401: 'authentication',
  402: 'budget_exceeded',
  403: 'authentication',
  404: 'not_found',
  408: 'timeout',
  409: 'service_unavailable',
  413: 'context_window_exceeded',
  429: 'rate_limit',
  502: 'service_unavailable',
  503: 'service_unavailable',
  504: 'service_unavailable',
  529: 'service_unavailable',
};

function codeByStatus(status: number | undefined): ModelErrorCode {
  const code = status === undefined ? undefined : codesByStatus[status];
  return code ?? (status !== undefined && status < 500 ? 'invalid_request' : 'api_error');
}

/** The errors of both SDKs: the headers of a refusal are those of our `fetch`. */
const sdkError = z.object({ status: z.number().int(), headers: z.instanceof(ReplyHeaders) });

/** What the provider, its SDK or the connection threw. */
export function toProviderError(error: unknown): ProviderError {
  if (error instanceof ProviderError) return error;
  const refused = sdkError.safeParse(error);
  if (!refused.success) return connectionFailure(error);
  const { status, headers } = refused.data;
  return refusal({ status, headers: headers.all, detail: detailIn(headers.refusal ?? '') });
}

/** Both protocols describe a refusal in `error`; servers that imitate them may leave the wrapper out, or send plain text. */
function detailIn(text: string): unknown {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === 'object' && body !== null && 'error' in body ? body.error : body;
  } catch {
    return text;
  }
}

/** The connection could not be made, or broke. */
function connectionFailure(error: unknown): ProviderError {
  const reason = systemCode(error);
  return new ProviderError('connection_error', `The connection to the provider failed${reason ? ` (${reason})` : ''}.`);
}

const systemError = z.object({ code: z.string().optional().catch(undefined), cause: z.unknown().optional() });

/** The code of the innermost system error, such as ECONNRESET. Messages are left out: they may contain addresses. */
function systemCode(error: unknown): string | undefined {
  const parsed = systemError.safeParse(error);
  return parsed.success ? (systemCode(parsed.data.cause) ?? parsed.data.code) : undefined;
}
