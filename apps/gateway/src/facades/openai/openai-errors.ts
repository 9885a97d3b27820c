import { findRefusedRoute, openAiCoverage } from '@rondo/contract/api';
import type { ProblemBody } from '../../problems/problems';

interface RefusedRequest {
  readonly method: string;
  readonly path: string;
}

const base = '/openai/v1';

/** Fields of runs under the names that clients of OpenAI's API know. */
const names: readonly (readonly [RegExp, string])[] = [
  [/^caller_tools\b/, 'tools'],
  [/^agent\.system_prompt$/, 'instructions'],
  [/^llm\.max_tokens$/, 'max_output_tokens'],
  [/^llm\./, ''],
  [/^agent_id$/, 'model'],
];

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

/** A problem as clients of OpenAI's API read it: the HTTP status, and the body. */
export function toOpenAiError(problem: ProblemBody, request: RefusedRequest): { status: number; body: object } {
  const { code, detail, title, errors = [] } = problem;
  const status = problem.status === 422 || badRequests.has(code) ? 400 : problem.status;
  const given = errors[0]?.field;
  const [pattern, name = ''] = names.find(([each]) => each.test(given ?? '')) ?? [];
  const param = (pattern && given?.replace(pattern, name)) ?? given ?? null;
  const isUnserved = code === 'not_found' || code === 'method_not_allowed';
  const message = (isUnserved && detail === undefined ? describeRefusal(request) : detail) ?? title;
  return { status, body: { error: { message, type: toType(status), param, code: codes[code] ?? code } } };
}

function describeRefusal({ method, path }: RefusedRequest): string {
  const why = findRefusedRoute(openAiCoverage, method, path.slice(base.length));
  return `${method} ${path} is not served${why === undefined ? '' : `: ${why}`}.`;
}

function toType(status: number): string {
  if (status === 403) return 'permission_error';
  if (status === 429) return 'rate_limit_error';
  return status < 500 ? 'invalid_request_error' : 'server_error';
}
