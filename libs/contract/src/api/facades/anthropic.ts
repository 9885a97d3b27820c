import { z } from 'zod';
import { agentId, threadId } from '../../ids';
import { type RouteDefinition, defineRoutes } from '../route';

const metadata = z
  .record(z.string().min(1).max(64), z.string().max(512))
  .refine((given) => Object.keys(given).length <= 16, 'must have at most 16 entries');
/** Null removes an entry. */
const metadataChange = z.record(z.string().min(1).max(64), z.string().max(512).nullable());

const policy = z.strictObject({ type: z.enum(['always_allow', 'always_ask', 'auto']) });

const toolConfig = z.strictObject({
  name: z.enum(['bash', 'edit', 'read', 'write', 'glob', 'grep', 'web_fetch', 'web_search']),
  type: z.string().optional(),
  enabled: z.boolean().nullish(),
  permission_policy: policy.nullish(),
});

const toolset = z.strictObject({
  type: z.literal('agent_toolset_20260401'),
  default_config: z.strictObject({ enabled: z.boolean().nullish(), permission_policy: policy.nullish() }).nullish(),
  configs: z.array(toolConfig).max(8).optional(),
});

const customTool = z.strictObject({
  type: z.literal('custom'),
  name: z.string(),
  description: z.string(),
  input_schema: z.looseObject({ type: z.literal('object') }),
});

/** Tools of MCP servers are known, to be refused by their name. */
const mcpToolset = z.looseObject({ type: z.literal('mcp_toolset') });

const tool = z.discriminatedUnion('type', [toolset, customTool, mcpToolset]);
export type AnthropicTool = z.infer<typeof tool>;

const effort = z.enum(['low', 'medium', 'high', 'xhigh', 'max']);
const model = z.union([
  z.string().min(1).max(200),
  z.strictObject({
    id: z.string().min(1).max(200),
    effort: z.union([effort, z.strictObject({ type: effort })]).nullish(),
    speed: z.enum(['standard', 'fast']).nullish(),
    inference_geo: z.string().nullish(),
  }),
]);
export type AnthropicModel = z.infer<typeof model>;

const system = z.string().max(100_000).nullable();
const tools = z.array(tool).max(128);

/** Parts that no agent here has: only their absence is taken. */
const unserved = z.unknown().optional();

const agentFields = {
  name: z.string().trim().min(1).max(200),
  model,
  description: z.string().max(2_000).nullish(),
  system: system.optional(),
  tools: tools.optional(),
  metadata: metadata.optional(),
  mcp_servers: unserved,
  skills: unserved,
  multiagent: unserved,
  execution_identity: unserved,
};

const newAgent = z.strictObject(agentFields);
export type NewAnthropicAgent = z.infer<typeof newAgent>;

const agentChange = z.strictObject({
  ...z.strictObject(agentFields).partial().shape,
  tools: tools.nullish(),
  metadata: metadataChange.nullish(),
  version: z.number().int().positive().optional(),
});
export type AnthropicAgentChange = z.infer<typeof agentChange>;

const packages = z.record(z.string(), z.unknown());
const environmentConfig = z.looseObject({
  type: z.enum(['cloud', 'self_hosted']),
  networking: z.looseObject({ type: z.string() }).nullish(),
  packages: packages.nullish(),
});

const environmentFields = {
  name: z.string().trim().min(1).max(200),
  description: z.string().max(2_000).nullish(),
  config: environmentConfig.nullish(),
  scope: z.enum(['organization', 'account']).nullish(),
};
const newEnvironment = z.strictObject({ ...environmentFields, metadata: metadata.optional() });
export type NewAnthropicEnvironment = z.infer<typeof newEnvironment>;
const environmentChange = z.strictObject({
  ...environmentFields,
  name: environmentFields.name.nullish(),
  metadata: metadataChange.optional(),
});
export type AnthropicEnvironmentChange = z.infer<typeof environmentChange>;

const contentBlock = z.looseObject({ type: z.string() });
export type AnthropicContentBlock = z.infer<typeof contentBlock>;
const content = z.array(contentBlock).min(1).max(100);

const userMessage = z.strictObject({ type: z.literal('user.message'), content });
const userEvent = z.discriminatedUnion('type', [
  userMessage,
  z.strictObject({ type: z.literal('user.interrupt'), session_thread_id: unserved }),
  z.strictObject({
    type: z.literal('user.tool_confirmation'),
    tool_use_id: z.string(),
    result: z.enum(['allow', 'deny']),
    deny_message: z.string().max(2_000).nullish(),
    session_thread_id: unserved,
  }),
  z.strictObject({
    type: z.literal('user.custom_tool_result'),
    custom_tool_use_id: z.string(),
    content: z.array(contentBlock).max(100).optional(),
    is_error: z.boolean().nullish(),
    session_thread_id: unserved,
  }),
  z.looseObject({ type: z.enum(['user.define_outcome', 'user.tool_result', 'system.message']) }),
]);
export type AnthropicUserEvent = z.infer<typeof userEvent>;

const sessionAgent = z.union([
  z.string(),
  z.strictObject({ type: z.literal('agent'), id: z.string(), version: z.number().int().positive().optional() }),
  z.strictObject({
    type: z.literal('agent_with_overrides'),
    id: z.string(),
    version: z.number().int().positive().optional(),
    model: model.optional(),
    system: system.optional(),
    tools: tools.optional(),
    mcp_servers: unserved,
    skills: unserved,
  }),
]);
export type AnthropicSessionAgent = z.infer<typeof sessionAgent>;

const fileResource = z.strictObject({
  type: z.literal('file'),
  file_id: z.string().max(100),
  mount_path: z.string().max(1_000).nullish(),
});
/** Repositories and memory stores are known, to be refused by their name. */
const sessionResource = z.discriminatedUnion('type', [
  fileResource,
  z.looseObject({ type: z.enum(['github_repository', 'memory_store']) }),
]);
export type AnthropicSessionResource = z.infer<typeof sessionResource>;
const mostResources = 100;

const newSession = z.strictObject({
  agent: sessionAgent,
  environment_id: z.string(),
  title: z.string().max(500).nullish(),
  metadata: metadata.optional(),
  initial_events: z
    .array(z.union([userMessage, z.looseObject({ type: z.literal('user.define_outcome') })]))
    .max(50)
    .optional(),
  budget: unserved,
  resources: z.array(sessionResource).max(mostResources).optional(),
  vault_ids: unserved,
});
export type NewAnthropicSession = z.infer<typeof newSession>;

const sessionChange = z.strictObject({
  title: z.string().max(500).nullish(),
  metadata: metadataChange.nullish(),
  agent: unserved,
  budget: unserved,
  vault_ids: unserved,
});
export type AnthropicSessionChange = z.infer<typeof sessionChange>;

/** Sent by the clients of earlier versions, and without a meaning here. */
const flags = { beta: z.string().optional() };
const noQuery = z.strictObject(flags);
const paging = { ...flags, page: z.string().optional(), limit: z.coerce.number().int().min(1).max(1_000).default(20) };
const texts = z.preprocess((given) => (typeof given === 'string' ? [given] : given), z.array(z.string()));
const order = z.enum(['asc', 'desc']);

const listQuery = z.strictObject({ ...paging, include_archived: z.stringbool().optional() });
const eventQuery = z.strictObject({
  ...paging,
  order: order.default('asc'),
  types: texts.optional(),
  'types[]': texts.optional(),
});
export type AnthropicEventQuery = z.infer<typeof eventQuery>;
const fileQuery = z.strictObject({
  ...paging,
  ids: texts.optional(),
  'ids[]': texts.optional(),
  scope_id: z.unknown().optional(),
});
export type AnthropicFileQuery = z.infer<typeof fileQuery>;
const previews = z.array(z.enum(['agent.message', 'agent.thinking']));
const previewQuery = z.preprocess((given) => (typeof given === 'string' ? [given] : given), previews).optional();
const streamQuery = z.strictObject({ ...flags, event_deltas: previewQuery, 'event_deltas[]': previewQuery });

const json = { body: z.unknown(), isParsed: false } as const;
const answers = { 200: json } as const;

const params = {
  session_id: {
    schema: threadId,
    property: 'threadId',
    example: 'thr_01ARZ3NDEKTSV4RRFFQ69G5FAV',
    unknown: { noun: 'session', code: 'session_not_found' },
  },
  resource_id: { schema: z.string().max(100), property: 'resourceId', example: 'sesrsc_01ARZ3NDEKTSV4RRFFQ69G5FAV' },
  environment_id: { schema: z.string().max(100), property: 'environmentId', example: 'env_01ARZ3NDEKTSV4RRFFQ69G5FAV' },
  agent_id: {
    schema: agentId,
    property: 'agentId',
    example: 'agt_01ARZ3NDEKTSV4RRFFQ69G5FAV',
    unknown: { noun: 'agent', code: 'agent_not_found' },
  },
} as const;

const base = '/anthropic/v1';

/** Routes that clients of Claude Managed Agents call. They are no part of the API: their form is not ours. */
export const anthropic = defineRoutes('anthropic', {
  createAnthropicAgent: {
    method: 'POST',
    path: `${base}/agents`,
    summary: 'Store an agent',
    audit: 'agent.create',
    query: noQuery,
    body: newAgent,
    answers,
  },
  listAnthropicAgents: {
    method: 'GET',
    path: `${base}/agents`,
    summary: 'List agents',
    query: listQuery,
    answers,
  },
  getAnthropicAgent: {
    method: 'GET',
    path: `${base}/agents/{agent_id}`,
    summary: 'Read an agent, or a version of it',
    query: z.strictObject({ ...flags, version: z.coerce.number().int().positive().optional() }),
    params,
    answers,
  },
  updateAnthropicAgent: {
    method: 'POST',
    path: `${base}/agents/{agent_id}`,
    summary: 'Change an agent',
    audit: 'agent.change',
    query: noQuery,
    params,
    body: agentChange,
    answers,
  },
  archiveAnthropicAgent: {
    method: 'POST',
    path: `${base}/agents/{agent_id}/archive`,
    summary: 'Archive an agent',
    audit: 'agent.archive',
    query: noQuery,
    params,
    body: z.unknown(),
    answers,
  },
  listAnthropicAgentVersions: {
    method: 'GET',
    path: `${base}/agents/{agent_id}/versions`,
    summary: 'List the versions of an agent',
    query: z.strictObject(paging),
    params,
    answers,
  },
  createAnthropicEnvironment: {
    method: 'POST',
    path: `${base}/environments`,
    summary: 'Create an environment',
    query: noQuery,
    body: newEnvironment,
    answers,
  },
  listAnthropicEnvironments: {
    method: 'GET',
    path: `${base}/environments`,
    summary: 'List environments',
    query: listQuery,
    answers,
  },
  getAnthropicEnvironment: {
    method: 'GET',
    path: `${base}/environments/{environment_id}`,
    summary: 'Read an environment',
    query: noQuery,
    params,
    answers,
  },
  updateAnthropicEnvironment: {
    method: 'POST',
    path: `${base}/environments/{environment_id}`,
    summary: 'Change an environment',
    query: noQuery,
    params,
    body: environmentChange,
    answers,
  },
  archiveAnthropicEnvironment: {
    method: 'POST',
    path: `${base}/environments/{environment_id}/archive`,
    summary: 'Archive an environment',
    query: noQuery,
    params,
    body: z.unknown(),
    answers,
  },
  deleteAnthropicEnvironment: {
    method: 'DELETE',
    path: `${base}/environments/{environment_id}`,
    summary: 'Delete an environment',
    query: noQuery,
    params,
    answers,
  },
  createAnthropicSession: {
    method: 'POST',
    path: `${base}/sessions`,
    summary: 'Begin a session',
    query: noQuery,
    body: newSession,
    answers,
  },
  listAnthropicSessions: {
    method: 'GET',
    path: `${base}/sessions`,
    summary: 'List sessions, newest first',
    query: z.strictObject({ ...paging, include_archived: z.stringbool().optional(), order: order.default('desc') }),
    answers,
  },
  getAnthropicSession: {
    method: 'GET',
    path: `${base}/sessions/{session_id}`,
    summary: 'Read a session',
    query: noQuery,
    params,
    answers,
  },
  updateAnthropicSession: {
    method: 'POST',
    path: `${base}/sessions/{session_id}`,
    summary: 'Change the title or the metadata of a session',
    query: noQuery,
    params,
    body: sessionChange,
    answers,
  },
  archiveAnthropicSession: {
    method: 'POST',
    path: `${base}/sessions/{session_id}/archive`,
    summary: 'Archive a session',
    query: noQuery,
    params,
    body: z.unknown(),
    answers,
  },
  deleteAnthropicSession: {
    method: 'DELETE',
    path: `${base}/sessions/{session_id}`,
    summary: 'Delete a session',
    audit: 'thread.delete',
    query: noQuery,
    params,
    answers,
  },
  listAnthropicEvents: {
    method: 'GET',
    path: `${base}/sessions/{session_id}/events`,
    summary: 'List the events of a session',
    query: eventQuery,
    params,
    answers,
  },
  sendAnthropicEvents: {
    method: 'POST',
    path: `${base}/sessions/{session_id}/events`,
    summary: 'Send events to a session',
    query: noQuery,
    params,
    body: z.strictObject({ events: z.array(userEvent).min(1).max(50) }),
    answers,
  },
  listAnthropicResources: {
    method: 'GET',
    path: `${base}/sessions/{session_id}/resources`,
    summary: 'List the files of a session',
    query: z.strictObject(paging),
    params,
    answers,
  },
  addAnthropicResource: {
    method: 'POST',
    path: `${base}/sessions/{session_id}/resources`,
    summary: 'Give a file to a session',
    query: noQuery,
    params,
    body: sessionResource,
    answers,
  },
  getAnthropicResource: {
    method: 'GET',
    path: `${base}/sessions/{session_id}/resources/{resource_id}`,
    summary: 'Read where a file of a session is',
    query: noQuery,
    params,
    answers,
  },
  deleteAnthropicResource: {
    method: 'DELETE',
    path: `${base}/sessions/{session_id}/resources/{resource_id}`,
    summary: 'Take a file off a session',
    query: noQuery,
    params,
    answers,
  },
  uploadAnthropicFile: {
    method: 'POST',
    path: `${base}/files`,
    summary: 'Upload a file',
    query: noQuery,
    storesAnswer: false,
    rawBody: { 'multipart/form-data': { schema: { type: 'object' } } },
    answers,
  },
  listAnthropicFiles: {
    method: 'GET',
    path: `${base}/files`,
    summary: 'List uploaded files, newest first',
    query: fileQuery,
    answers,
  },
  getAnthropicFile: {
    method: 'GET',
    path: `${base}/files/{file_id}`,
    summary: 'Read what is known of a file',
    query: noQuery,
    answers,
  },
  readAnthropicFile: {
    method: 'GET',
    path: `${base}/files/{file_id}/content`,
    summary: 'Read the content of a file',
    query: noQuery,
    answers: { 200: { bytes: ['application/octet-stream'] } },
  },
  deleteAnthropicFile: {
    method: 'DELETE',
    path: `${base}/files/{file_id}`,
    summary: 'Delete a file',
    audit: 'file.delete',
    query: noQuery,
    answers,
  },
  streamAnthropicEvents: {
    method: 'GET',
    path: `${base}/sessions/{session_id}/events/stream`,
    summary: 'Follow a session',
    query: streamQuery,
    params,
    answers: { 200: { description: 'Events as they happen.', events: z.unknown() } },
  },
} satisfies Record<string, RouteDefinition>);
