import { STATUS_CODES } from 'node:http';
import type { OpenAPIObject } from '@nestjs/swagger';
import { storesResponse } from '../idempotency/idempotent-requests';
import { type ProblemCode, problemStatus } from '../problems/problems';

const methods = ['get', 'post', 'put', 'patch', 'delete'] as const;
type Operation = NonNullable<OpenAPIObject['paths'][string]['get']>;

interface Route {
  readonly method: string;
  readonly path: string;
}

/** Adds to every route under /v1 its security, its problems, and the header of idempotent requests. */
export function withProblems(document: OpenAPIObject): OpenAPIObject {
  const paths = Object.entries(document.paths).map(([path, item]) => {
    const described = methods.flatMap((method) => {
      const operation = item[method];
      return operation ? [[method, describe(operation, { method, path })] as const] : [];
    });
    return [path, { ...item, ...Object.fromEntries(described) }] as const;
  });
  return { ...document, paths: Object.fromEntries(paths) };
}

function describe(operation: Operation, route: Route): Operation {
  if (!route.path.startsWith('/v1/')) return operation;
  const idempotency = { name: 'Idempotency-Key', in: 'header', required: false, schema: { type: 'string' } } as const;
  return {
    ...operation,
    security: isHook(route) || isPublic(route) ? [] : [{ api_key: [] }, { session: [] }],
    ...(isIdempotent(route) && { parameters: [...(operation.parameters ?? []), idempotency] }),
    responses: { ...operation.responses, ...problemResponses(route) },
  };
}

const always = () => true;
const never = () => false;
const isPost = ({ method }: Route) => method === 'post';
const isIdempotent = (route: Route) => isPost(route) && storesResponse(route.path);
/** A body of JSON; other PUTs take the content of a file, and so does an upload. */
const takesJson = ({ method, path }: Route) =>
  (['post', 'patch'].includes(method) && path !== '/v1/files') || (method === 'put' && /\/(agents\/|tier$)/.test(path));
const isList = ({ method, path }: Route) =>
  method === 'get' && !/(\}|\/session|\/sandbox|\/browser|\/balance)$/.test(path);

const isFork = ({ path }: Route): boolean => path.endsWith('/fork');
const isUpload = (route: Route) => isPost(route) && route.path === '/v1/files';
/** Takes its body also as a form with files. */
const takesFiles = (route: Route) => isUpload(route) || (isPost(route) && /\/(runs|input)$/.test(route.path));
const isAboutBrowser = ({ path }: Route) => path.includes('/sandboxes/{sandbox_id}/browser');
const isAboutFiles = ({ path }: Route) => path.includes('/sandboxes/{sandbox_id}/files');
/** All but the read of one sandbox, which then says that its state is unknown, and the list. */
const usesSandbox = ({ method, path }: Route) =>
  isAboutFiles({ method, path }) ||
  isAboutBrowser({ method, path }) ||
  path.includes('/sites/') ||
  (method !== 'get' && path.includes('/sandbox'));

/** Its sender has a secret instead of a key. */
const isHook = ({ path }: Route) => path.startsWith('/v1/hooks/');

/** Everyone may read what is shared. */
const isPublic = ({ path }: Route) => path.startsWith('/v1/public/');

const setsTrigger = ({ method, path }: Route) =>
  (method === 'post' || method === 'patch') &&
  /^\/v1\/(triggers(\/\{trigger_id\})?|schedules(\/\{schedule_id\}(\/run)?)?)$/.test(path);

const changesVersion = ({ method, path }: Route) =>
  (method === 'patch' && path === '/v1/agents/{agent_id}') || path.endsWith('/activate');

const startsRun = ({ method, path }: Route) => method === 'post' && /\/(runs|fork|\{schedule_id\}\/run)$/.test(path);

/** The routes that can answer with each problem. */
const raisedBy: Record<ProblemCode, (route: Route) => boolean> = {
  malformed_json: takesJson,
  invalid_cursor: isList,
  malformed_request: takesFiles,
  unauthorized: always,
  forbidden: always,
  balance_exhausted: startsRun,
  model_not_allowed: startsRun,
  not_found: never,
  run_not_found: ({ path }) => path.includes('{run_id}'),
  thread_not_found: ({ method, path }) =>
    path.includes('{thread_id}') || (method === 'post' && path === '/v1/runs') || setsTrigger({ method, path }),
  project_not_found: ({ method, path }) =>
    path.includes('{project_id}') || (method === 'post' && /^\/v1\/(runs|threads)$/.test(path)),
  tool_call_not_found: ({ path }) => path.includes('{tool_call_id}'),
  approval_not_found: ({ path }) => path.includes('{approval_id}'),
  mcp_tool_not_found: ({ path }) => path.includes('{mcp_tool_id}'),
  api_key_not_found: ({ path }) => path.includes('{key_id}'),
  blob_not_found: ({ path }) => path.includes('{sha256}'),
  sandbox_not_found: ({ method, path }) =>
    path.includes('{sandbox_id}') || (method === 'get' && path === '/v1/threads/{thread_id}/sandbox'),
  site_not_found: ({ path }) => path.includes('/sites/{name}'),
  file_not_found: (route) => isAboutFiles(route) || route.path.includes('{file_id}'),
  account_not_found: ({ path }) => path.includes('{account_id}'),
  agent_not_found: ({ method, path }) =>
    path.includes('{agent_id}') ||
    (method === 'post' && /\/(runs|threads)$/.test(path)) ||
    setsTrigger({ method, path }),
  agent_version_not_found: ({ path }) => path.includes('{version}') || path.endsWith('/compare'),
  schedule_not_found: ({ path }) => path.includes('{schedule_id}'),
  trigger_not_found: (route) => route.path.includes('/triggers/{trigger_id}'),
  trigger_paused: isHook,
  too_many_triggers: (route) => isPost(route) && /^\/v1\/(schedules|triggers)$/.test(route.path),
  webhook_endpoint_not_found: ({ path }) => path.includes('{endpoint_id}'),
  webhook_delivery_not_found: ({ path }) => path.includes('{delivery_id}'),
  webhook_endpoint_paused: ({ path }) => path.endsWith('/redeliver'),
  too_many_webhook_endpoints: (route) => isPost(route) && route.path === '/v1/webhooks',
  agent_changed: changesVersion,
  agent_name_taken: (route) => changesVersion(route) || (isPost(route) && route.path === '/v1/agents'),
  agent_is_default: ({ method, path }) => method === 'delete' && path === '/v1/agents/{agent_id}',
  sandbox_refused: usesSandbox,
  browser_not_running: isAboutBrowser,
  browser_busy: (route) => isAboutBrowser(route) && isPost(route),
  operator_account: ({ path }) => path.includes('{account_id}'),
  method_not_allowed: never,
  thread_busy: ({ method, path }) =>
    (method === 'post' && /\/(runs|\{schedule_id\}\/run)$/.test(path)) ||
    (method === 'delete' && /\{(thread|project)_id\}$/.test(path)),
  message_not_newest: ({ method, path }) => method === 'post' && /^\/v1\/(threads\/\{thread_id\}\/)?runs$/.test(path),
  run_not_waiting: ({ path }) => path.endsWith('/input'),
  run_over: ({ path }) => path.endsWith('/budget'),
  log_trimmed: isFork,
  log_too_long: isFork,
  fork_needs_input: isFork,
  run_not_finished: ({ path }) => path.endsWith('/result'),
  tool_call_not_unknown: ({ path }) => path.endsWith('/resolve'),
  approval_not_open: ({ path }) => path.endsWith('/decision'),
  arguments_changed: ({ path }) => path.endsWith('/decision'),
  mcp_tool_changed: ({ path }) => path.endsWith('/confirm'),
  idempotency_in_flight: isIdempotent,
  payload_too_large: (route) => takesJson(route) || isUpload(route) || route.method === 'put',
  unsupported_media_type: (route) => takesJson(route) || isUpload(route),
  invalid_request: always,
  idempotency_key_reused: isIdempotent,
  too_many_subscriptions: never,
  file_quota_exceeded: takesFiles,
  quota_exceeded: ({ method, path }) =>
    method === 'post' && /\/(threads|runs|messages|fork|api-keys|\{schedule_id\}\/run)$/.test(path),
  thread_full: ({ method, path }) => method === 'post' && /\/(runs|messages|input|\{schedule_id\}\/run)$/.test(path),
  rate_limited: always,
  too_many_active_runs: startsRun,
  too_many_connections: ({ path }) => /\/(stream|wait)$/.test(path),
  too_many_bytes_in_flight: (route) => takesJson(route) || isUpload(route),
  internal_error: always,
  service_unavailable: always,
  sandbox_unavailable: usesSandbox,
  preview_not_found: never,
  preview_unavailable: never,
  preview_timeout: never,
  executor_unavailable: ({ path }) => path === '/v1/mcp-servers/discover',
};

function problemResponses(route: Route): Operation['responses'] {
  const codes = Object.entries(problemStatus).filter(([code]) => raisedBy[code as ProblemCode](route)); // its own keys
  const statuses = [...new Set(codes.map(([, status]) => status))];
  return Object.fromEntries(
    statuses.map((status) => {
      const names = codes.filter((code) => code[1] === status).map(([code]) => code);
      const description = `${STATUS_CODES[status]}: ${names.map((name) => `\`${name}\``).join(', ')}`;
      return [
        status,
        { description, content: { 'application/problem+json': { schema, examples: examplesOf(names) } } },
      ];
    }),
  );
}

const schema = { $ref: '#/components/schemas/Problem' };

const examplesOf = (codes: readonly string[]) =>
  Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }]));
