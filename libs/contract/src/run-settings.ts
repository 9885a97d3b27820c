import { z } from 'zod';
import { approvalRule, approvalSettings } from './approval';
import { callerTools } from './caller-tool';
import { environment } from './environment';
import { fallbacks, requestedFallbacks } from './fallback';
import { mcpServerRequests, mcpServers } from './mcp-server';
import { memoryChoices, runMemoryStore } from './memory';
import { modelName, requestedModel } from './model';
import { secretName } from './secret';
import { runSkill, skillChoices } from './skill';
import { textLimits } from './text-limits';
import { dialectName } from './tool-call';

/** How much a model reasons before it answers. Each provider has some of them; the nearest one is asked for. */
export const reasoningEffort = z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']);
export type ReasoningEffort = z.infer<typeof reasoningEffort>;

const maxExtraCharacters = 20_000;

/** What the service itself decides about a request. */
const ownParameters = ['model', 'messages', 'input', 'system', 'tools', 'stream', 'stream_options'];

/** Further parameters of the provider's API. They replace those of the same name that the service would send. */
export const extraBody = z
  .record(z.string(), z.unknown())
  .refine((body) => JSON.stringify(body).length <= maxExtraCharacters, {
    message: `must have at most ${maxExtraCharacters} characters as JSON`,
  })
  .refine((body) => !ownParameters.some((name) => name in body), {
    message: `must not have ${ownParameters.join(', ')}`,
  });

/** Settings of the model call, passed to providers that support them. */
export const llmSettings = z.strictObject({
  temperature: z.number().min(0).max(2).optional(),
  top_p: z.number().min(0).max(1).optional(),
  max_tokens: z.number().int().positive().optional(),
  reasoning_effort: reasoningEffort.optional(),
  enable_thinking: z.boolean().optional(),
  thinking_budget: z.number().int().min(1024).optional(),
  tool_choice: z.enum(['auto', 'none', 'required']).optional(),
  response_format: z
    .record(z.string(), z.unknown())
    .refine((format) => JSON.stringify(format).length <= textLimits.responseFormat, {
      message: `must have at most ${textLimits.responseFormat} characters as JSON`,
    })
    .optional(),
  extra_body: extraBody.optional(),
});
export type LlmSettings = z.infer<typeof llmSettings>;

export const processorSettings = z.strictObject({
  dialect: dialectName,
  execute_tools: z.boolean(),
  execute_on_stream: z.boolean(),
  tool_execution_strategy: z.enum(['sequential', 'parallel']),
  xml_adding_strategy: z.enum(['user_message', 'assistant_message', 'inline_edit']),
  max_tool_calls: z.number().int().nonnegative(),
  native_max_auto_continues: z.number().int().min(0).max(100),
  include_xml_examples: z.boolean(),
  json_repair_attempts: z.number().int().min(0).max(5),
  /** For an `unsafe` call with an unknown outcome: `report` tells the model, `park` asks a person. */
  unknown_outcome: z.enum(['report', 'park']),
});
export type ProcessorSettings = z.infer<typeof processorSettings>;

export const limitSettings = z.strictObject({
  max_iterations: z.number().int().min(1).max(500),
  max_duration_s: z.number().int().positive(),
  max_malformed_calls: z.number().int().positive(),
  tool_timeout_s: z.number().int().min(1).max(600),
  /** The most times in a row that a run may make the same calls with the same results. 0 or absent: no limit. */
  max_identical_calls: z
    .number()
    .int()
    .min(0)
    .max(100)
    .refine((times) => times !== 1, 'must be 0 (no limit) or 2 to 100')
    .optional(),
  /** How deep the tree of runs below the first run may be. Only that of the first run counts. Absent: 3. */
  max_run_depth: z.number().int().min(0).max(8).optional(),
  /** The most runs in the whole tree below the first run. Only that of the first run counts. Absent: 50. */
  max_tree_runs: z.number().int().min(0).max(500).optional(),
  /** The most child runs of the run that are not over, at a time. Absent: 10. */
  max_active_children: z.number().int().min(1).max(50).optional(),
});

export const contextSettings = z.strictObject({
  strategy: z.enum(['summary', 'head_tail', 'none']),
  token_threshold: z.number().int().min(1000),
  summary_target_tokens: z.number().int().min(100),
  reserve_tokens: z.number().int().nonnegative(),
  max_turns: z.number().int().min(1),
  keep_first: z.number().int().nonnegative(),
  /** The number of newest images that stay in the context. */
  keep_images: z.number().int().nonnegative(),
  summary_model: modelName.optional(),
  /** The largest request in tokens; overrides what is known about the model. */
  input_budget_tokens: z.number().int().min(1000).optional(),
});

export const budgetSettings = z.strictObject({
  usd: z.number().positive().optional(),
  tokens: z.number().int().positive().optional(),
  /** When it is used up: `end` completes the run with `budget_exceeded`, `wait` parks it until the budget is raised. */
  on_exceeded: z.enum(['end', 'wait']).optional(),
});

/** The agent, as the system prompt describes it. */
export const agentIdentity = z.strictObject({
  name: z.string().max(200).optional(),
  description: z.string().max(2_000).optional(),
  task: z.string().max(20_000).optional(),
  system_prompt: z.string().max(200_000).optional(),
  directives: z.array(z.string().max(textLimits.directive)).max(100).optional(),
});

export const profileName = z.enum(['suna', 'ii', 'symphony']);
export type ProfileName = z.infer<typeof profileName>;

const toolNameText = z.string().max(textLimits.toolName);

/** How a run differs from the definition of a tool. */
const toolPolicy = z.strictObject({
  /** What the model reads of the tool, in place of its own description. */
  description: z.string().min(1).max(textLimits.toolDescription).optional(),
  /** The longest that a call may take, in seconds; in place of `limits.tool_timeout_s`, and never beyond the tool's own limit. */
  timeout_s: z.number().int().min(1).max(600).optional(),
});

const secretNames = z
  .array(secretName)
  .max(50)
  .refine((names) => new Set(names).size === names.length, 'names a secret twice');

/** The effective settings of a run, merged from profile, agent and request. */
export const runSettings = z.strictObject({
  profile: profileName,
  model: modelName,
  /** The models that are asked instead, in this order, when it fails. Absent: none. */
  fallbacks: fallbacks.optional(),
  agent: agentIdentity,
  tools: z.array(z.string()),
  /** By the names of tools and of groups of tools. Absent: none differs. `enabled` is false for a tool of a server that is not offered. */
  tool_policies: z.record(z.string(), toolPolicy.extend({ enabled: z.boolean().optional() })).optional(),
  /** Their tools are offered, too. Absent: none. */
  mcp_servers: mcpServers.optional(),
  /** Are offered, too, and answered by the caller. Absent: none. */
  caller_tools: callerTools.optional(),
  /** The sandbox may use and not read them. Absent: none. */
  secrets: secretNames.optional(),
  /** What its workspace has and may reach. Absent: an empty one, and what the deployment allows. */
  environment: environment.optional(),
  /** Their names and descriptions are in the prompt, their files at `/skills`. By name. Absent: none. */
  skills: z.array(runSkill).optional(),
  /** Its tools reach them, and its prompt lists their entries. By name. Absent: none. */
  memory: z.array(runMemoryStore).optional(),
  llm: llmSettings,
  processor: processorSettings,
  limits: limitSettings,
  context: contextSettings,
  budget: budgetSettings,
  /** Absent: no call needs approval. */
  approvals: approvalSettings.optional(),
  /** `single_decision`: the run ends after one tool call or one answer. */
  termination: z.enum(['conversation', 'single_decision']),
});
export type RunSettings = z.infer<typeof runSettings>;

/** `require_approval`: which calls a person must approve before they are sent. */
const toolOptions = toolPolicy.extend({
  enabled: z.boolean().optional(),
  require_approval: approvalRule.optional(),
  /** That `require_approval` is meant for these calls alone, although other tools of the run can do the same without one. */
  only: z.boolean().optional(),
});

/** Changes to the tools of the earlier part: tools and groups of tools by name. A tool's name wins over its group's. */
export const toolChanges = z
  .record(toolNameText, z.union([z.boolean(), toolOptions]))
  .refine((changes) => Object.keys(changes).length <= 200, { message: 'must have at most 200 entries' });
export type ToolChanges = z.infer<typeof toolChanges>;
export type ToolPolicies = NonNullable<RunSettings['tool_policies']>;

const overridable = {
  model: requestedModel.optional(),
  /** Models that are asked when the one before fails; `[]`: none. */
  fallbacks: requestedFallbacks.optional(),
  /** A list replaces that of the earlier part; an object changes it. */
  tools: z.union([z.array(toolNameText).max(200), toolChanges]).optional(),
  /** How long a call waits for its approval. Then it is denied. */
  approval_expires_s: approvalSettings.shape.expires_s.optional(),
  /** Whether a person follows the run and can be handed the turn. What follows for its tools, the profile says. */
  interactive: z.boolean().optional(),
  mcp_servers: mcpServerRequests.optional(),
  /** Tools that the caller runs. They are offered beside the others; a list replaces that of the earlier part. */
  caller_tools: callerTools.optional(),
  /** Names of secrets that the sandbox may use and not read. A list replaces that of the earlier part. */
  secrets: secretNames.optional(),
  /** What the workspace has and may reach. It replaces that of the earlier part as a whole. */
  environment: environment.optional(),
  /** Skills whose files the sandbox sees at `/skills`. A list replaces that of the earlier part. */
  skills: skillChoices.optional(),
  /** Memory stores that the run reads, and changes as `policy` says: `ask` if it is absent. A list replaces that of the earlier part. */
  memory: memoryChoices.optional(),
  llm: llmSettings.optional(),
  processor: processorSettings
    .partial()
    .extend({
      max_xml_tool_calls: z.number().int().nonnegative().optional(),
      /** The last three are older names, still accepted. */
      xml_adding_strategy: z
        .enum(['user_message', 'assistant_message', 'inline_edit', 'append', 'replace', 'xml'])
        .optional(),
    })
    .optional(),
  limits: limitSettings.partial().optional(),
  context: contextSettings.partial().extend({ summary_model: requestedModel.optional() }).optional(),
  budget: budgetSettings.optional(),
};

/** What an agent says about itself and changes of the profile. */
export const agentSettings = agentIdentity.extend(overridable);

/** The settings that a request may name, all optional. A later part wins: profile < account < agent < run. */
export const settingsRequest = z.strictObject({
  profile: profileName.optional(),
  agent: agentSettings.optional(),
  ...overridable,
});
export type SettingsRequest = z.infer<typeof settingsRequest>;

/** What an account keeps for all of its runs. What belongs to one agent, it cannot name. */
export const accountSettings = settingsRequest.omit({
  agent: true,
  mcp_servers: true,
  caller_tools: true,
  secrets: true,
  environment: true,
  skills: true,
  memory: true,
});
export type AccountSettings = z.infer<typeof accountSettings>;
