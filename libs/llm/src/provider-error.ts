import type { IncomingHttpHeaders } from 'node:http';
import type { ModelErrorCode } from '@rondo/contract';
import { z } from 'zod';
import { ReplyHeaders } from './http/lean-fetch';
import { readRefusal, saysFailure } from './refusal-detail';
import { isLargerThanPace, saysTooLong, tooLongNames } from './too-long';

interface ErrorOptions {
  readonly transient?: boolean;
  readonly retryAfterMs?: number | undefined;
  readonly isSlip?: boolean;
}

/** A provider refused, failed or did not respond. `transient`: trying again may help. */
export class ProviderError extends Error {
  override readonly name = 'ProviderError';
  readonly transient: boolean;
  readonly retryAfterMs: number | undefined;
  /** The server could not read what the model wrote: nothing is wrong with the request. */
  readonly isSlip: boolean;

  constructor(
    readonly code: ModelErrorCode,
    message: string,
    options: ErrorOptions = {},
  ) {
    super(message);
    this.transient = options.transient ?? transientCodes.has(code);
    this.retryAfterMs = options.retryAfterMs;
    this.isSlip = options.isSlip ?? false;
  }
}

const transientCodes: ReadonlySet<ModelErrorCode> = new Set([
  'rate_limit',
  'service_unavailable',
  'api_error',
  'connection_error',
  'timeout',
]);

interface Refused {
  readonly status?: number | undefined;
  readonly headers?: IncomingHttpHeaders;
}

const withoutReason = ({ status }: Refused): string =>
  `The provider gave no reason${status === undefined ? '' : ` (HTTP ${status})`}.`;

/** Nothing follows a redirection, which would be sent the key. Its address may be none for the eyes of the account. */
const redirection = ({ status = 0 }: Refused): string | undefined =>
  status >= 300 && status < 400
    ? `The provider redirects requests elsewhere (HTTP ${status}), and they are not sent there. Its base URL must need no redirection, for example begin with https.`
    : undefined;

/** What servers say of a path that they do not have. Of a model that they do not have, they say the name. */
const noSuchPath =
  /^(?:404 )?(?:page |resource |url )?not found\.?$|^invalid url \(|unexpected endpoint|cannot post \//i;

const withHint = (reason: string): string =>
  noSuchPath.test(reason)
    ? `${reason.replace(/\.?$/, '.')} The base URL of the provider may lack a part of the path, such as /v1.`
    : reason;

/** Classifies a provider's refusal, or an error in its stream, by its status, unless the body is more specific. */
export function refusal(response: Refused & { readonly detail: unknown }): ProviderError {
  const { text: reason, names, ...told } = readRefusal(response.detail);
  const text = redirection(response) ?? (reason === undefined ? withoutReason(response) : withHint(reason));
  const status = response.status ?? told.status ?? (names.some((name) => aboutRequest.test(name)) ? 400 : undefined);
  const found =
    (isLargerThanPace(text) ? 'context_window_exceeded' : codeByName(names)) ??
    codeByText({ status, text, isPaced: told.retryAfterMs !== undefined });
  const advice = response.headers?.['x-should-retry'];
  const isSlip = names.some((name) => slips.has(name));
  return new ProviderError(isSlip ? 'api_error' : (found ?? codeByStatus(status)), text, {
    ...(advice === 'true' || advice === 'false' ? { transient: advice === 'true' } : undefined),
    retryAfterMs: retryAfterMs(response.headers) ?? told.retryAfterMs,
    isSlip,
  });
}

/** Names of what is wrong with a request, for errors inside streams. Those about images are of the Responses API. */
const aboutRequest =
  /^(?:invalid_request_error|invalid_prompt|data_residency_mismatch|invalid_(?:base64_)?image\w*|image_(?:too|parse|file)_\w+|unsupported_image_media_type|empty_image_file|failed_to_download_image)$/;

/** Groq's names for calls and JSON of the model that it could not read: the model is asked again. */
const slips: ReadonlySet<string> = new Set(['tool_use_failed', 'json_validate_failed', 'output_parse_failed']);

/** The failure that an event or a whole reply reports in place of content, in any of the forms that servers have for it. */
export function failureIn(event: unknown): ProviderError | undefined {
  if (typeof event !== 'object' || event === null) return undefined;
  const { error, object, type, choices } = event as Record<string, unknown>;
  const hasReply = type !== undefined || (Array.isArray(choices) ? choices.length > 0 : isSaid(choices));
  const isBare = !hasReply && saysFailure(event);
  const isFailure = isSaid(error) || object === 'error' || type === 'error' || isBare || Array.isArray(event);
  return isFailure ? refusal({ detail: event }) : undefined;
}

const isSaid = (value: unknown): boolean =>
  typeof value === 'string' ? value !== '' : typeof value === 'object' && value !== null;

/**
 * How long the client should wait before it tries again: `retry-after-ms`, or `retry-after` as seconds or as a date. No time at
 * all is no advice: all attempts would be spent in a moment.
 */
export function retryAfterMs(headers: IncomingHttpHeaders = {}): number | undefined {
  const milliseconds = Number(headers['retry-after-ms']);
  if (milliseconds > 0) return milliseconds;

  const value = headers['retry-after'] ?? '';
  const seconds = Number(value);
  const waitMs = Number.isNaN(seconds) ? Date.parse(value) - Date.now() : toPauseMs(seconds);
  return waitMs > 0 ? waitMs : undefined;
}

/** In seconds: about thirty years. */
const longestPause = 1e9;

/** Some servers write a time where a number of seconds is meant: in seconds, or in milliseconds, since 1970. */
export function toPauseMs(seconds: number): number {
  if (seconds < longestPause) return Math.ceil(seconds * 1000);
  const at = seconds < longestPause * 1000 ? seconds * 1000 : seconds;
  return Math.max(0, Math.ceil(at - Date.now()));
}

/** The names of errors. Those that a status expresses too are needed for errors inside streams, which have none. */
const codesByName: Readonly<Record<string, ModelErrorCode>> = {
  insufficient_quota: 'budget_exceeded',
  insufficient_balance: 'budget_exceeded',
  insufficient_credits: 'budget_exceeded',
  billing_error: 'budget_exceeded',
  billing_hard_limit_reached: 'budget_exceeded',
  billing_not_active: 'budget_exceeded',
  contract_spend_limit_reached: 'budget_exceeded',
  credit_balance_exhausted: 'budget_exceeded',
  enforced_spend_limit_reached: 'budget_exceeded',
  organization_spend_limit_exceeded: 'budget_exceeded',
  organization_usage_limit_exceeded: 'budget_exceeded',
  project_spend_limit_exceeded: 'budget_exceeded',
  exceeded_current_quota_error: 'budget_exceeded',
  Arrearage: 'budget_exceeded',
  content_filter: 'content_policy_violation',
  content_policy_violation: 'content_policy_violation',
  image_content_policy_violation: 'content_policy_violation',
  misalignment_policy_violation: 'content_policy_violation',
  bio_policy: 'content_policy_violation',
  cyber_policy: 'content_policy_violation',
  data_inspection_failed: 'content_policy_violation',
  DataInspectionFailed: 'content_policy_violation',
  model_not_found: 'not_found',
  not_found_error: 'not_found',
  invalid_api_key: 'authentication',
  authentication_error: 'authentication',
  permission_error: 'authentication',
  UNAUTHENTICATED: 'authentication',
  PERMISSION_DENIED: 'authentication',
  rate_limit_error: 'rate_limit',
  rate_limit_exceeded: 'rate_limit',
  RESOURCE_EXHAUSTED: 'rate_limit',
  throttlingException: 'rate_limit',
  overloaded_error: 'service_unavailable',
  engine_overloaded_error: 'service_unavailable',
  server_is_overloaded: 'service_unavailable',
  service_unavailable_error: 'service_unavailable',
  slow_down: 'service_unavailable',
  UNAVAILABLE: 'service_unavailable',
  serviceUnavailableException: 'service_unavailable',
  timeout_error: 'timeout',
  DEADLINE_EXCEEDED: 'timeout',
};

/** An empty wallet is often a 429 with the name of a pace beside its own. */
function codeByName(names: readonly string[]): ModelErrorCode | undefined {
  if (names.some((name) => tooLongNames.has(name))) return 'context_window_exceeded';
  const codes = names.map((name) => codesByName[name]).filter((code) => code !== undefined);
  return codes.includes('budget_exceeded') ? 'budget_exceeded' : codes[0];
}

/** Causes that only the message of a rejected request tells apart. */
const noMoney =
  /credit balance is too low|reached your specified (?:\w+ )?API usage limits|insufficient (?:credits?|balance|funds)|out of credits|used all (?:available |of your )?credits|requires more credits|spending limit|key limit exceeded|billing hard limit|余额不足|欠费/i;
const notSupported =
  /model\b.*\b(?:not supported|unsupported|does not support)|not supported (?:for|by|with) this model/i;
const policy =
  /content (?:management )?policy|safety (?:system|reasons)|usage (?:guidelines|polic(?:y|ies))|(?:input|prompt|content|message|request) was flagged|inappropriate content|content exists risk|new_sensitive|敏感内容/i;

interface SaidBy {
  readonly status: number | undefined;
  readonly text: string;
  /** A pause is named after which the request may pass. */
  readonly isPaced: boolean;
}

function codeByText({ status, text, isPaced }: SaidBy): ModelErrorCode | undefined {
  if (!isPaced && (status === undefined || status < 500) && noMoney.test(text)) return 'budget_exceeded';
  if (status === 403) return policy.test(text) ? 'content_policy_violation' : undefined; // else it is about the key
  if (status !== undefined && status !== 400 && status !== 413 && status !== 422 && status < 500) return undefined;
  if (saysTooLong(text)) return 'context_window_exceeded';
  if (status !== undefined && status >= 500) return undefined;
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
  424: 'service_unavailable', // Bedrock and TGI: the model itself failed
  425: 'service_unavailable',
  429: 'rate_limit',
  499: 'service_unavailable', // Gemini: the server cancelled it
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
  return refusal({ status, headers: headers.all, detail: headers.refusal });
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
