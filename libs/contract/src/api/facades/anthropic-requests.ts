import { z } from 'zod';
import { callerTools } from '../../caller-tool';
import { environment } from '../../environment';

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
/** Custom tools are tools of the caller. What those may not be is refused by the names that the client has for it. */
const tools = z
  .array(tool)
  .max(128)
  .superRefine((given, context) => {
    const custom = [...given.entries()].flatMap(([place, each]) =>
      each.type === 'custom' ? [{ place, ...each }] : [],
    );
    const asCallerTools = custom.map(({ name, description, input_schema: parameters }) => ({
      name,
      description,
      parameters,
    }));
    for (const { path, message } of callerTools.safeParse(asCallerTools).error?.issues ?? []) {
      const [index, field, ...rest] = path;
      const known = field === 'parameters' ? 'input_schema' : field;
      const own = [custom[Number(index)]?.place, known, ...rest].filter((part) => part !== undefined);
      context.addIssue({ code: 'custom', path: own, message });
    }
  });

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

export const newAgent = z.strictObject(agentFields);
export type NewAnthropicAgent = z.infer<typeof newAgent>;

export const agentChange = z.strictObject({
  ...z.strictObject(agentFields).partial().shape,
  tools: tools.nullish(),
  metadata: metadataChange.nullish(),
  version: z.number().int().positive().optional(),
});
export type AnthropicAgentChange = z.infer<typeof agentChange>;

const packages = z.record(z.string(), z.unknown());
const networking = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('unrestricted') }),
  z.strictObject({
    type: z.literal('limited'),
    allowed_hosts: environment.shape.egress.nullable(),
    allow_mcp_servers: z.boolean().nullish(),
    allow_package_managers: z.boolean().nullish(),
  }),
]);
export type AnthropicNetworking = z.infer<typeof networking>;

const environmentConfig = z.looseObject({
  type: z.enum(['cloud', 'self_hosted']),
  networking: networking.nullish(),
  packages: packages.nullish(),
});

const environmentFields = {
  name: z.string().trim().min(1).max(200),
  description: z.string().max(2_000).nullish(),
  config: environmentConfig.nullish(),
  scope: z.enum(['organization', 'account']).nullish(),
};
export const newEnvironment = z.strictObject({ ...environmentFields, metadata: metadata.optional() });
export type NewAnthropicEnvironment = z.infer<typeof newEnvironment>;
export const environmentChange = z.strictObject({
  ...environmentFields,
  name: environmentFields.name.nullish(),
  metadata: metadataChange.optional(),
});
export type AnthropicEnvironmentChange = z.infer<typeof environmentChange>;

const contentBlock = z.looseObject({ type: z.string() });
export type AnthropicContentBlock = z.infer<typeof contentBlock>;
const content = z.array(contentBlock).min(1).max(100);

const userMessage = z.strictObject({ type: z.literal('user.message'), content });
export const userEvent = z.discriminatedUnion('type', [
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
export const sessionResource = z.discriminatedUnion('type', [
  fileResource,
  z.looseObject({ type: z.enum(['github_repository', 'memory_store']) }),
]);
export type AnthropicSessionResource = z.infer<typeof sessionResource>;
const mostResources = 100;

export const newSession = z.strictObject({
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

export const sessionChange = z.strictObject({
  title: z.string().max(500).nullish(),
  metadata: metadataChange.nullish(),
  agent: unserved,
  budget: unserved,
  vault_ids: unserved,
});
export type AnthropicSessionChange = z.infer<typeof sessionChange>;

/** Sent by the clients of earlier versions, and without a meaning here. */
export const flags = { beta: z.string().optional() };
export const noQuery = z.strictObject(flags);
export const paging = {
  ...flags,
  page: z.string().optional(),
  limit: z.coerce.number().int().min(1).max(1_000).default(20),
};
const texts = z.preprocess((given) => (typeof given === 'string' ? [given] : given), z.array(z.string()));
export const order = z.enum(['asc', 'desc']);

export const listQuery = z.strictObject({ ...paging, include_archived: z.stringbool().optional() });
export const eventQuery = z.strictObject({
  ...paging,
  order: order.default('asc'),
  types: texts.optional(),
  'types[]': texts.optional(),
});
export type AnthropicEventQuery = z.infer<typeof eventQuery>;
export const fileQuery = z.strictObject({
  ...paging,
  ids: texts.optional(),
  'ids[]': texts.optional(),
  scope_id: z.unknown().optional(),
});
export type AnthropicFileQuery = z.infer<typeof fileQuery>;
const previews = z.array(z.enum(['agent.message', 'agent.thinking']));
const previewQuery = z.preprocess((given) => (typeof given === 'string' ? [given] : given), previews).optional();
export const streamQuery = z.strictObject({ ...flags, event_deltas: previewQuery, 'event_deltas[]': previewQuery });

const cron = z.strictObject({ type: z.literal('cron'), expression: z.string().max(200), timezone: z.string().max(64) });
/** Computed fields are sent back by clients that change what they have read. */
const cronChange = cron.extend({ last_run_at: unserved, upcoming_runs_at: unserved });

const deploymentFields = {
  name: z.string().trim().min(1).max(200),
  description: z.string().max(2_000).nullish(),
  agent: z.union([
    z.string(),
    z.strictObject({ type: z.literal('agent'), id: z.string(), version: z.number().int().positive().optional() }),
  ]),
  environment_id: z.string(),
  initial_events: z
    .array(z.union([userMessage, z.looseObject({ type: z.enum(['user.define_outcome', 'system.message']) })]))
    .min(1)
    .max(50),
  schedule: cronChange.nullish(),
  budget: unserved,
  resources: unserved,
  vault_ids: unserved,
};
export const newDeployment = z.strictObject({ ...deploymentFields, metadata: metadata.optional() });
export type NewAnthropicDeployment = z.infer<typeof newDeployment>;
export const deploymentChange = z.strictObject({
  ...z.strictObject(deploymentFields).partial().shape,
  metadata: metadataChange.nullish(),
});
export type AnthropicDeploymentChange = z.infer<typeof deploymentChange>;
export const deploymentRunQuery = z.strictObject({ ...paging, deployment_id: z.string().max(100) });
