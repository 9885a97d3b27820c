import { exampleIds as ids } from '@rondo/contract/api';

const parameters = {
  type: 'object',
  properties: { title: { type: 'string', description: 'In a few words.' } },
  required: ['title'],
};

const mcpDefinition = {
  description: 'Creates a ticket.',
  parameters,
  effect_class: 'unsafe',
  fingerprint: 'mcp1-3f9a7c5e1b2d4068',
};

const approval = {
  id: ids.approval,
  run_id: ids.run,
  thread_id: ids.thread,
  tool_call_id: ids.call,
  name: 'execute_command',
  arguments: { command: 'git push' },
  arguments_hash: '0b3c9d5e7f1a2b4c6d8e0f1a3b5c7d9e1f2a4b6c8d0e2f4a6b8c0d2e4f6a8b0c',
  effect_class: 'unsafe',
  requested_at: '2026-11-25T09:00:03.000Z',
  expires_at: '2026-11-26T09:00:03.000Z',
  outcome: null,
  decided_by: null,
  decided_at: null,
  reason: null,
};

/** Of models, tools, MCP servers and approvals. */
export const toolExamples = {
  Model: {
    id: 'openai/gpt-5',
    provider: 'openai',
    context_window: 400_000,
    max_output_tokens: 128_000,
    price: { input: 1.25, output: 10, cache_read: 0.125 },
    default: true,
    aliases: ['gpt-5'],
    allowed: true,
    charged_price: { input: 1.875, output: 15, cache_read: 0.1875 },
    default_in: ['suna', 'ii', 'symphony'],
  },
  Tool: {
    name: 'execute_command',
    description: 'Run a command in the sandbox.',
    group: 'shell',
    effect_class: 'unsafe',
    parameters: { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] },
    default_in: ['suna'],
    available: true,
    reason: '',
  },
  McpTool: {
    id: ids.mcpTool,
    server: 'tickets',
    tool: 'create',
    available: true,
    reason: '',
    accepted: mcpDefinition,
    changed: null,
    changed_at: null,
    confirmed_by: null,
    confirmed_at: null,
    first_seen_at: '2026-11-25T09:00:00.000Z',
  },
  McpToolConfirmation: { fingerprint: mcpDefinition.fingerprint },
  ForgottenMcpTools: { forgotten: 3 },
  McpDiscoveryRequest: {
    server: { name: 'tickets', transport: 'streamable_http', url: 'https://tickets.example.com/mcp' },
  },
  DiscoveredMcpServer: {
    connected: true,
    reason: null,
    tools: [{ name: 'tickets__create', tool: 'create', ...mcpDefinition }],
    refused: [{ tool: 'a tool', reason: 'Its name has characters that models do not accept.' }],
  },
  Approval: approval,
  ApprovalDecision: { decision: 'approve', arguments_hash: approval.arguments_hash, reason: 'Reviewed.' },
  InboxPage: {
    data: [
      {
        id: ids.run,
        thread_id: ids.thread,
        status: 'waiting_input',
        waiting: {
          reason: 'ask',
          question: { text: 'Which colour should it have?', attachments: [], tool_call_id: ids.call },
        },
      },
    ],
    has_more: false,
    next_cursor: null,
  },
};
