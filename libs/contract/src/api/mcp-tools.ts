import { z } from 'zod';
import { knownMcpTool, mcpToolDefinition } from '../known-mcp-tool';
import { mcpPrompt, mcpPromptChoice, mcpPromptMessage, refusedMcpPrompt } from '../mcp-prompt';
import { mcpServerName, mcpServerRequest, mcpTool, refusedMcpTool } from '../mcp-server';
import { exampleIds as ids } from './example-ids';
import { createPage, pageQuery } from './paging';
import { type ApiSchemas, defineRoutes } from './route';

const mcpDiscoveryRequest = z.strictObject({
  server: mcpServerRequest.describe('As a run names it. Its headers are not kept.'),
});

const discoveredServer = z.object({
  connected: z.boolean(),
  reason: z.string().nullable().describe('Why it is not connected.'),
  tools: z
    .array(mcpTool)
    .describe('Those that a run would be offered, unless they have changed since it accepted them.'),
  refused: z.array(refusedMcpTool),
});

const mcpPrompts = z.object({
  connected: z.boolean(),
  reason: z.string().nullable().describe('Why it is not connected.'),
  prompts: z.array(mcpPrompt),
  refused: z.array(refusedMcpPrompt).describe('Those that cannot be shown, with the reason.'),
});
const mcpPromptRequest = mcpDiscoveryRequest.extend({
  name: mcpPromptChoice.shape.name,
  arguments: mcpPromptChoice.shape.arguments.default({}),
});
const givenMcpPrompt = z.object({
  reason: z.string().nullable().describe('Why there are no messages.'),
  description: z.string(),
  messages: z.array(mcpPromptMessage),
  input: z
    .string()
    .describe('The messages as one text, to begin a run with. Read it before: it is the word of the server.'),
});

const mcpToolQuery = pageQuery.extend({
  state: z.enum(['all', 'changed']).default('all').describe('`changed`: only those that await a confirmation.'),
});
const mcpToolConfirmation = z.strictObject({
  fingerprint: z.string().min(1).max(64).describe('Of the definition that is confirmed, as `changed` has it.'),
});
const mcpToolPage = createPage(knownMcpTool);
const forgottenMcpTools = z.object({ forgotten: z.number().int() });

export const mcpServers = defineRoutes('catalog', {
  discoverMcpServer: {
    method: 'POST',
    path: '/v1/mcp-servers/discover',
    summary: 'Connect to an MCP server and list its tools, as a run would',
    description:
      'Nothing of it is kept, and no tool is accepted by it. A server that cannot be used is an answer with its reason. ' +
      'A server over `stdio` is started in a sandbox of its own, which is removed again.',
    audit: 'mcp_server.discover',
    body: mcpDiscoveryRequest,
    answers: { 200: { body: discoveredServer, isParsed: false } },
    problems: ['executor_unavailable'],
  },
  listMcpPrompts: {
    method: 'POST',
    path: '/v1/mcp-servers/prompts',
    summary: 'Connect to an MCP server and list its prompts: texts that it offers to begin a run with',
    description: 'As with its tools, nothing is kept, and a server that cannot be used is an answer with its reason.',
    audit: 'mcp_server.list_prompts',
    body: mcpDiscoveryRequest,
    answers: { 200: { body: mcpPrompts } },
    problems: ['executor_unavailable'],
  },
  getMcpPrompt: {
    method: 'POST',
    path: '/v1/mcp-servers/prompts/get',
    summary: 'Read a prompt of an MCP server, with arguments',
    audit: 'mcp_server.get_prompt',
    body: mcpPromptRequest,
    answers: { 200: { body: givenMcpPrompt } },
    problems: ['executor_unavailable'],
  },
});

/** Definitions are answered as they were accepted: parsing would drop what a server's schema may say. */
export const mcpTools = defineRoutes('people', {
  listMcpTools: {
    method: 'GET',
    path: '/v1/mcp-tools',
    summary: 'List the tools of MCP servers that runs of the account have seen, newest first',
    description: 'A tool that its server has changed is not offered to runs until a person confirms the change.',
    query: mcpToolQuery,
    answers: { 200: { body: mcpToolPage, isParsed: false } },
  },
  getMcpTool: {
    method: 'GET',
    path: '/v1/mcp-tools/{mcp_tool_id}',
    summary: 'Read a tool of an MCP server: what was accepted, and what the server says now',
    answers: { 200: { body: knownMcpTool, isParsed: false } },
  },
  forgetMcpServer: {
    method: 'DELETE',
    path: '/v1/mcp-tools',
    summary: 'Forget the tools of a server, by the name that runs give it',
    description: 'The next run that names the server accepts what it says then.',
    audit: 'mcp_server.forget',
    query: z.strictObject({ server: mcpServerName }),
    queryExample: { server: 'tickets' },
    answers: { 200: { body: forgottenMcpTools } },
  },
  forgetMcpTool: {
    method: 'DELETE',
    path: '/v1/mcp-tools/{mcp_tool_id}',
    summary: 'Forget a tool. The next run that sees it accepts what its server says then',
    audit: 'mcp_tool.forget',
    answers: { 204: {} },
  },
  confirmMcpTool: {
    method: 'POST',
    path: '/v1/mcp-tools/{mcp_tool_id}/confirm',
    summary: 'Confirm the changed definition of a tool',
    description: 'Runs that start from now on are offered it. Refused if the server has changed it again meanwhile.',
    audit: 'mcp_tool.confirm',
    body: mcpToolConfirmation,
    answers: { 200: { body: knownMcpTool, isParsed: false } },
    problems: ['mcp_tool_changed'],
  },
});

const exampleServer = { name: 'tickets', transport: 'streamable_http', url: 'https://tickets.example.com/mcp' };
const exampleDefinition = {
  description: 'Creates a ticket.',
  parameters: {
    type: 'object',
    properties: { title: { type: 'string', description: 'In a few words.' } },
    required: ['title'],
  },
  effect_class: 'unsafe',
  fingerprint: 'mcp1-3f9a7c5e1b2d4068',
};

export const mcpSchemas: ApiSchemas = {
  requests: {
    McpDiscoveryRequest: mcpDiscoveryRequest,
    McpPromptRequest: mcpPromptRequest,
    McpToolConfirmation: mcpToolConfirmation,
  },
  answers: {
    McpTool: knownMcpTool,
    McpToolDefinition: mcpToolDefinition,
    McpToolPage: mcpToolPage,
    DiscoveredMcpServer: discoveredServer,
    McpPrompts: mcpPrompts,
    GivenMcpPrompt: givenMcpPrompt,
    ForgottenMcpTools: forgottenMcpTools,
  },
  examples: {
    McpTool: {
      id: ids.mcpTool,
      server: 'tickets',
      tool: 'create',
      available: true,
      reason: '',
      accepted: exampleDefinition,
      changed: null,
      changed_at: null,
      confirmed_by: null,
      confirmed_at: null,
      first_seen_at: '2026-11-25T09:00:00.000Z',
    },
    McpToolConfirmation: { fingerprint: exampleDefinition.fingerprint },
    ForgottenMcpTools: { forgotten: 3 },
    McpDiscoveryRequest: { server: exampleServer },
    McpPromptRequest: { server: exampleServer, name: 'triage', arguments: { ticket: 'T-7' } },
    McpPrompts: {
      connected: true,
      reason: null,
      prompts: [
        {
          name: 'triage',
          title: 'Triage a ticket',
          description: 'Says how urgent a ticket is.',
          arguments: [{ name: 'ticket', description: 'Its number.', required: true }],
        },
      ],
      refused: [],
    },
    GivenMcpPrompt: {
      reason: null,
      description: 'Says how urgent a ticket is.',
      messages: [{ role: 'user', text: 'How urgent is T-7?' }],
      input: 'How urgent is T-7?',
    },
    DiscoveredMcpServer: {
      connected: true,
      reason: null,
      tools: [{ name: 'tickets__create', tool: 'create', ...exampleDefinition }],
      refused: [{ tool: 'a tool', reason: 'Its name has characters that models do not accept.' }],
    },
  },
};
