import type { ProblemBody } from '@rondo/contract/api';
import type { FacadeError } from '../facade-error';
import { toRetryHeaders } from '../../idempotency/repeated-posts';

interface FailedRequest {
  readonly method: string;
  readonly path: string;
  readonly refusal: string | undefined;
}

/** Problems for which OpenAI's API has codes of its own. */
const codes: Partial<Record<ProblemBody['code'], string>> = {
  unauthorized: 'invalid_api_key',
  thread_busy: 'conversation_locked',
  message_not_newest: 'previous_response_not_latest',
  run_not_found: 'response_not_found',
  thread_not_found: 'conversation_not_found',
  agent_not_found: 'model_not_found',
  not_found: 'not_served',
  method_not_allowed: 'not_served',
  invalid_request: 'invalid_value',
  rate_limited: 'rate_limit_exceeded',
};

const badRequests: ReadonlySet<string> = new Set(['message_not_newest', 'tool_call_not_awaited']);

/** A problem as clients of OpenAI's API read it. */
export function toOpenAiError(problem: ProblemBody, request: FailedRequest): FacadeError {
  const { code, detail, title, errors = [] } = problem;
  const status = problem.status === 422 || badRequests.has(code) ? 400 : problem.status;
  const param = errors[0]?.field ?? null;
  const message = detail ?? describeUnserved(code, request) ?? title;
  return {
    status,
    contentType: 'application/json; charset=utf-8',
    headers: toRetryHeaders({ status, code }),
    text: JSON.stringify({ error: { message, type: toType(status), param, code: codes[code] ?? code } }),
  };
}

function describeUnserved(code: ProblemBody['code'], { method, path, refusal }: FailedRequest): string | undefined {
  if (code !== 'not_found' && code !== 'method_not_allowed') return undefined;
  return refusal ?? `${method} ${path} is not served.`;
}

function toType(status: number): string {
  if (status === 403) return 'permission_error';
  if (status === 429) return 'rate_limit_error';
  return status < 500 ? 'invalid_request_error' : 'server_error';
}
