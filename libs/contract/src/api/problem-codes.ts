import { z } from 'zod';
import { balance, quotaName } from '../balance';
import { problem } from '../problem';

/** Every problem that the API can answer: its stable code and its HTTP status. */
export const problemStatus = {
  malformed_json: 400,
  invalid_cursor: 400,
  malformed_request: 400,
  unsupported_capability: 400,
  agent_archived: 400,
  environment_archived: 400,
  unauthorized: 401,
  balance_exhausted: 402,
  forbidden: 403,
  model_not_allowed: 403,
  not_found: 404,
  run_not_found: 404,
  thread_not_found: 404,
  project_not_found: 404,
  tool_call_not_found: 404,
  approval_not_found: 404,
  mcp_tool_not_found: 404,
  api_key_not_found: 404,
  client_token_not_found: 404,
  session_not_found: 404,
  blob_not_found: 404,
  account_not_found: 404,
  sandbox_not_found: 404,
  file_not_found: 404,
  site_not_found: 404,
  preview_not_found: 404,
  environment_not_found: 404,
  agent_not_found: 404,
  agent_version_not_found: 404,
  schedule_not_found: 404,
  trigger_not_found: 404,
  secret_not_found: 404,
  user_not_found: 404,
  webhook_endpoint_not_found: 404,
  webhook_delivery_not_found: 404,
  method_not_allowed: 405,
  thread_busy: 409,
  message_not_newest: 409,
  operator_account: 409,
  agent_changed: 409,
  agent_name_taken: 409,
  agent_is_default: 409,
  secret_name_taken: 409,
  session_archived: 409,
  trigger_paused: 409,
  webhook_endpoint_paused: 409,
  sandbox_refused: 409,
  browser_not_running: 409,
  browser_busy: 409,
  run_not_waiting: 409,
  run_over: 409,
  run_not_finished: 409,
  log_trimmed: 409,
  log_too_long: 409,
  fork_needs_input: 409,
  tool_call_not_unknown: 409,
  tool_call_not_awaited: 409,
  tool_call_answered: 409,
  approval_not_open: 409,
  arguments_changed: 409,
  mcp_tool_changed: 409,
  idempotency_in_flight: 409,
  tool_call_over: 410,
  payload_too_large: 413,
  unsupported_media_type: 415,
  invalid_request: 422,
  idempotency_key_reused: 422,
  too_many_subscriptions: 422,
  thread_full: 422,
  file_quota_exceeded: 422,
  quota_exceeded: 422,
  too_many_triggers: 422,
  too_many_webhook_endpoints: 422,
  too_many_secrets: 422,
  rate_limited: 429,
  too_many_active_runs: 429,
  too_many_connections: 429,
  too_many_bytes_in_flight: 429,
  internal_error: 500,
  service_unavailable: 503,
  sandbox_unavailable: 503,
  executor_unavailable: 503,
  preview_unavailable: 502,
  preview_timeout: 504,
} as const satisfies Record<string, number>;

export type ProblemCode = keyof typeof problemStatus;

export const isProblemCode = (code: string): code is ProblemCode => Object.hasOwn(problemStatus, code);

/** A problem as the gateway sends it. */
export const problemBody = problem.extend({
  active_run_id: z.string().optional().describe('Of `thread_busy`: the run that is active on the thread.'),
  allowed_models: z.array(z.string()).optional().describe('Of `model_not_allowed`: the models of the account’s tier.'),
  balance: balance.optional().describe('Of `balance_exhausted`: the account’s, as `GET /v1/balance` has it.'),
  quota: quotaName.optional().describe('Of `quota_exceeded`: which one, as `GET /v1/balance` names it.'),
  limit: z.number().optional().describe('Of `quota_exceeded`: what the account may have.'),
  used: z.number().optional().describe('Of `quota_exceeded`: what it has.'),
  retry_after_s: z.number().optional().describe('Over sockets, which have no `Retry-After` header.'),
});

export type ProblemBody = z.infer<typeof problemBody>;

/** What some problems say beside their code. */
export type ProblemDetails = Pick<
  ProblemBody,
  'detail' | 'errors' | 'active_run_id' | 'allowed_models' | 'balance' | 'quota' | 'limit' | 'used'
>;
