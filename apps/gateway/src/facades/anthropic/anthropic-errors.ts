import { type ProblemBody, type RequestCoverage, asksFor } from '@rondo/contract/api';
import { ApiError } from '../../problems/api-error';
import { problem } from '../../problems/api-error';
import type { FacadeError } from '../facade-error';
import { toRetryHeaders } from '../../idempotency/repeated-posts';

/** What is documented there and not served here, by its name. */
export const refuse = (field: string, what: string): ApiError =>
  new ApiError('unsupported_capability', `${field}: ${what} is not served here.`);

const types: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  500: 'api_error',
  503: 'overloaded_error',
};

/** Errors of a request are 400 there, also those that are 422 in the API. */
const toStatus = (status: number): number => (status === 422 || status === 410 ? 400 : status);

/** A problem as clients of Claude's API read it. A route that is not served is an unsupported capability. */
export function toAnthropicError(
  failure: ProblemBody,
  { requestId, refusal }: { readonly requestId: string | null; readonly refusal: string | undefined },
): FacadeError {
  const shown = refusal === undefined ? failure : problem('unsupported_capability', { detail: refusal });
  const { title, detail, code } = shown;
  const status = toStatus(shown.status);
  const type = types[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error');
  const error = { type, message: detail ?? title, details: { error_code: code } };
  return {
    status,
    contentType: 'application/json; charset=utf-8',
    headers: toRetryHeaders(shown),
    text: JSON.stringify({ type: 'error', error, request_id: requestId }),
  };
}

/** Refuses what a request asks of fields that are not served. */
export function refuseFields(request: object, { refused }: RequestCoverage): void {
  const given: Readonly<Record<string, unknown>> = { ...request };
  for (const [field, refusal] of Object.entries(refused))
    if (asksFor(given[field], refusal))
      throw new ApiError('unsupported_capability', `${field} is not served here: ${refusal.why}.`);
}
