import { z } from 'zod';
import {
  agent,
  agentDefinition,
  agentSort,
  agentSource,
  agentTag,
  agentTags,
  agentVersion,
  definitionChange,
  sortOrder,
  versionNote,
} from '../agent';
import { environment } from '../environment';
import { exampleIds as ids } from './example-ids';
import { createPage, pageQuery } from './paging';
import type { PathParam } from './path-params';
import { type ApiSchemas, defineRoutes } from './route';

const greatestVersion = 2 ** 31 - 1;
const versionNumber = z.number().int().min(1).max(greatestVersion);
const versionQuery = z.coerce.number().int().min(1).max(greatestVersion);

const ifVersion = versionNumber
  .optional()
  .describe('The active version that the client knows. Refused with `agent_changed` if another one is active.');
const isDefault = z.boolean().describe('Whether runs of the account that name no agent begin with it.');
const tags = agentTags.describe('A set of tags to find it by, in lower case. They make no version.');
const note = versionNote.optional().describe('Kept with the version that the definition makes; lost if it makes none.');

const newAgent = z.strictObject({
  definition: agentDefinition,
  is_default: isDefault.default(false),
  tags: tags.default([]),
  note,
});

const agentChange = z
  .strictObject({
    definition: agentDefinition.optional().describe('Replaces the whole definition. The same one makes no version.'),
    is_default: isDefault.optional(),
    tags: tags.optional(),
    note,
    if_version: ifVersion,
  })
  .refine((change) => change.note === undefined || change.definition !== undefined, {
    path: ['note'],
    message: 'needs a definition: the note of a version that is there is changed by a PATCH of the version',
  });

/** The name is in the path. */
const declaredAgent = z.strictObject({
  definition: agentDefinition.omit({ name: true }),
  is_default: isDefault.optional(),
  tags: tags.optional(),
  note,
});

const agentQuery = pageQuery.extend({
  search: z.string().max(200).optional().describe('A part of the name, in any case.'),
  tag: z
    .string()
    .transform((list) => list.split(','))
    .pipe(z.array(agentTag).max(20))
    .optional()
    .describe('One tag, or several with commas between them: agents that have all of them.'),
  is_default: z.stringbool().optional(),
  has_mcp: z.stringbool().optional().describe('Whether the definition names an MCP server.'),
  tool: z
    .string()
    .min(1)
    .max(100)
    .optional()
    .describe('Definitions that name this tool, or else its group, and do not switch it off.'),
  sort: agentSort.default('created_at'),
  order: sortOrder
    .optional()
    .describe('`asc` is the default for `name`, and `desc`, the newest first, for the others.'),
});

const versionChange = z.strictObject({ note: versionNote.nullable().describe('Null removes it.') });
const versionActivation = z.strictObject({ if_version: ifVersion });

const agentComparison = z.object({
  from: z.number().int(),
  to: z.number().int(),
  from_note: agentVersion.shape.note,
  to_note: agentVersion.shape.note,
  changes: z.array(definitionChange),
});

const threadAgent = z.object({ source: agentSource, agent: agent.nullable() });
const agentPage = createPage(agent);
const agentVersionPage = createPage(agentVersion);

const name = {
  schema: agentDefinition.shape.name,
  property: 'name',
  example: 'release-notes',
} as const satisfies PathParam;

const location = '/v1/agents/{id}';

/** Answers with definitions are not parsed: an earlier release may have stored one that this one would refuse. */
export const agents = defineRoutes('agents', {
  createAgent: {
    method: 'POST',
    path: '/v1/agents',
    summary: 'Store an agent, as version 1',
    audit: 'agent.create',
    body: newAgent,
    answers: { 201: { body: agent, isParsed: false, location } },
    problems: ['agent_name_taken', 'agent_quota_exceeded'],
  },
  listAgents: {
    method: 'GET',
    path: '/v1/agents',
    summary: 'List agents, newest first unless sorted otherwise',
    query: agentQuery,
    answers: { 200: { body: agentPage, isParsed: false } },
  },
  getAgent: {
    method: 'GET',
    path: '/v1/agents/{agent_id}',
    summary: 'Read an agent, with the definition of its active version',
    answers: { 200: { body: agent, isParsed: false } },
  },
  updateAgent: {
    method: 'PATCH',
    path: '/v1/agents/{agent_id}',
    summary: 'Change an agent',
    description:
      'Another definition becomes a new version, which is active from then on. Runs keep the version they began with.',
    audit: 'agent.change',
    body: agentChange,
    answers: { 200: { body: agent, isParsed: false } },
    problems: ['agent_changed', 'agent_name_taken', 'agent_quota_exceeded'],
  },
  applyAgent: {
    method: 'PUT',
    path: '/v1/agents/by-name/{name}',
    summary: 'Create the agent of this name, or change it to this definition',
    description: 'Idempotent: the definition that it has already makes no new version.',
    audit: 'agent.apply',
    params: { name },
    body: declaredAgent,
    answers: {
      200: { body: agent, isParsed: false, location },
      201: { description: 'There was none of this name.', body: agent, isParsed: false, location },
    },
    problems: ['agent_quota_exceeded'],
  },
  deleteAgent: {
    method: 'DELETE',
    path: '/v1/agents/{agent_id}',
    summary: 'Delete an agent that is not the default, with its versions',
    description: 'Its runs stay, with their settings. Its threads go on with the default of the account.',
    audit: 'agent.delete',
    answers: { 204: {} },
    problems: ['agent_is_default'],
  },
  getThreadAgent: {
    method: 'GET',
    path: '/v1/threads/{thread_id}/agent',
    summary: "The agent of the thread's next run, unless that names one, and what decides it",
    answers: { 200: { body: threadAgent, isParsed: false } },
  },
  listAgentVersions: {
    method: 'GET',
    path: '/v1/agents/{agent_id}/versions',
    summary: "List an agent's versions, newest first",
    query: pageQuery,
    answers: { 200: { body: agentVersionPage, isParsed: false } },
  },
  getAgentVersion: {
    method: 'GET',
    path: '/v1/agents/{agent_id}/versions/{version}',
    summary: 'Read a version',
    answers: { 200: { body: agentVersion, isParsed: false } },
  },
  updateAgentVersion: {
    method: 'PATCH',
    path: '/v1/agents/{agent_id}/versions/{version}',
    summary: 'Change the note of a version',
    description: 'Its definition never changes.',
    audit: 'agent.version_change',
    body: versionChange,
    answers: { 200: { body: agentVersion, isParsed: false } },
  },
  activateAgentVersion: {
    method: 'POST',
    path: '/v1/agents/{agent_id}/versions/{version}/activate',
    summary: 'Begin new runs with this version, for example an earlier one',
    description: 'It makes no new version. Runs keep the version they began with.',
    audit: 'agent.activate',
    body: versionActivation,
    answers: { 200: { body: agent, isParsed: false } },
    problems: ['agent_changed', 'agent_name_taken'],
  },
  compareAgentVersions: {
    method: 'GET',
    path: '/v1/agents/{agent_id}/compare',
    summary: 'The differences between two versions, by JSON Pointer',
    query: z.strictObject({ from: versionQuery, to: versionQuery }),
    queryExample: { from: 1, to: 2 },
    answers: { 200: { body: agentComparison } },
    problems: ['agent_version_not_found'],
  },
});

const exampleChange = {
  description: 'Writes the notes of a release',
  model: 'openai/gpt-5',
  system_prompt: 'You write short release notes, one line for each change.',
  tools: ['execute_command', 'read_file'],
  limits: { max_iterations: 20 },
};
const exampleNote = 'A larger model, for longer notes';
const exampleDefinition = { name: 'release-notes', ...exampleChange };

const exampleAgent = {
  id: ids.agent,
  version: 2,
  latest_version: 2,
  is_default: false,
  tags: ['releases', 'writing'],
  created_at: '2026-11-20T12:00:00.000Z',
  updated_at: '2026-11-25T09:00:00.000Z',
  definition: exampleDefinition,
};

export const agentSchemas: ApiSchemas = {
  shared: { AgentDefinition: agentDefinition, Environment: environment },
  requests: {
    NewAgent: newAgent,
    AgentChange: agentChange,
    DeclaredAgent: declaredAgent,
    VersionChange: versionChange,
    VersionActivation: versionActivation,
  },
  answers: {
    Agent: agent,
    AgentPage: agentPage,
    AgentSource: agentSource,
    AgentSort: agentSort,
    SortOrder: sortOrder,
    AgentVersion: agentVersion,
    AgentVersionPage: agentVersionPage,
    AgentComparison: agentComparison,
    DefinitionChange: definitionChange,
    ThreadAgent: threadAgent,
  },
  examples: {
    Agent: exampleAgent,
    NewAgent: { definition: exampleDefinition, tags: ['releases', 'writing'], note: 'The first one' },
    AgentChange: {
      definition: { ...exampleDefinition, model: 'anthropic/claude-sonnet-4-5' },
      note: 'Tries another model',
      if_version: 2,
    },
    DeclaredAgent: { definition: exampleChange, tags: ['releases', 'writing'] },
    VersionActivation: { if_version: 2 },
    AgentVersion: {
      version: 2,
      is_active: true,
      note: exampleNote,
      created_at: '2026-11-25T09:00:00.000Z',
      definition: exampleDefinition,
    },
    VersionChange: { note: exampleNote },
    AgentComparison: {
      from: 1,
      to: 2,
      from_note: null,
      to_note: exampleNote,
      changes: [{ op: 'replace', path: '/model', before: 'openai/gpt-5-mini', after: 'openai/gpt-5' }],
    },
    ThreadAgent: { source: 'thread', agent: exampleAgent },
  },
};
