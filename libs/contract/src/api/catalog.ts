import { z } from 'zod';
import { profileName } from '../run-settings';
import { modelPrice } from '../model';
import { effectClass } from '../tool-call';
import { createPage, pageQuery } from './paging';
import { type ApiSchemas, defineRoutes } from './route';

const listedModel = z.object({
  id: z.string().describe('The `model` of a run.'),
  provider: z.string(),
  context_window: z.number().int().nullable(),
  max_output_tokens: z.number().int().nullable(),
  price: modelPrice.nullable().describe('USD per million tokens, at the provider.'),
  default: z.boolean(),
  aliases: z.array(z.string()).readonly().describe('Short names that a run may use instead.'),
  allowed: z.boolean().describe("Whether the account's tier has it. Runs with another model are refused."),
  charged_price: modelPrice.nullable().describe('USD per million tokens, as the account is charged.'),
  default_in: z
    .array(profileName)
    .readonly()
    .describe('The profiles whose runs have it if the request and the agent name none.'),
});

const tool = z.object({
  name: z.string(),
  description: z.string(),
  group: z.string(),
  effect_class: effectClass.describe('Where it depends on the arguments, the least repeatable one.'),
  parameters: z.record(z.string(), z.unknown()).describe('JSON Schema of the arguments.'),
  default_in: z.array(profileName).describe('The profiles whose runs have it unless their settings say otherwise.'),
  available: z.boolean().describe('Whether the executors have what it needs. A run that starts is offered no other.'),
  reason: z.string().describe('Why it is offered, or what is missing.'),
});

const modelPage = createPage(listedModel).extend({
  providers: z.array(z.string()).describe('Any `provider/model` of these is accepted.'),
});
const toolPage = createPage(tool);

export const catalog = defineRoutes('catalog', {
  listModels: {
    method: 'GET',
    path: '/v1/models',
    summary: 'List the models of this deployment, and say which of them the account may use at which price',
    query: pageQuery,
    answers: { 200: { body: modelPage } },
  },
  listTools: {
    method: 'GET',
    path: '/v1/tools',
    summary: 'List the tools, and say of each why it is or is not offered',
    query: pageQuery,
    answers: { 200: { body: toolPage } },
  },
});

const exampleModel = {
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
};

export const catalogSchemas: ApiSchemas = {
  answers: { Model: listedModel, ModelPrice: modelPrice, ModelPage: modelPage, Tool: tool, ToolPage: toolPage },
  examples: {
    ModelPage: { data: [exampleModel], has_more: false, next_cursor: null, providers: ['demo', 'openai'] },
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
  },
};
