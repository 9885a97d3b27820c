import { z } from 'zod';
import { reasoningEffort } from '../../run-settings';
import { metadata } from '../metadata';
import { type RouteDefinition, defineRoutes } from '../route';
import { type FacadeCoverage, refuseFields } from './coverage';

/** What Rondo serves of the API of OpenAI. */
export const openAiCoverage = {
  path: '/openai/v1',
  routes: {
    'GET /models': 'the stored agents of the account by their names, then the models of the deployment',
    'GET /models/{model}': 'one of them',
    'POST /responses': 'a run, or what goes on with one',
    'GET /responses/{id}': 'the response; with `?stream=true` its events, from `starting_after` on',
    'POST /responses/{id}/cancel': 'a [stop](../reliability.md)',
    'DELETE /responses/{id}': 'deletes the thread, if it has no other response',
    'GET /responses/{id}/input_items': 'what the response was asked',
    'POST /conversations': 'a thread, with `metadata` and messages of the user as `items`',
    'GET /conversations/{id}': 'the thread',
    'DELETE /conversations/{id}': 'deletes the thread',
    'GET /conversations/{id}/items': 'what was said and done on it',
    'POST /conversations/{id}/items': 'adds messages of the user',
    'GET /conversations/{id}/items/{item}': 'one of them',
    'POST /chat/completions': 'a run; the thread is found by the messages before the newest one',
  },
  refusedRoutes: {
    'POST /responses/input_tokens': 'the tokens of a run depend on what it does',
    'POST /responses/compact': 'a thread is compacted by itself',
    'POST /conversations/{id}': 'the metadata of a thread does not change',
    'DELETE /conversations/{id}/items/{item}': 'what is in the log stays there',
    'GET /chat/completions': 'answers of chats are runs: read them at `/v1/runs`',
    '* /chat/completions/{id}/*': 'answers of chats are runs: read them at `/v1/runs`',
    'DELETE /models/{model}': 'delete a stored agent at `/v1/agents`',
    '* /completions': 'use `/responses` or `/chat/completions`',
    '* /embeddings': 'Rondo runs agents',
    '* /moderations': 'Rondo runs agents',
    '* /audio/*': 'Rondo runs agents',
    '* /images/*': 'Rondo runs agents',
    '* /videos/*': 'Rondo runs agents',
    '* /files/*': 'upload files at `/v1/files`',
    '* /uploads/*': 'upload files at `/v1/files`',
    '* /vector_stores/*': 'there are none',
    '* /containers/*': 'each thread has a sandbox of its own',
    '* /batches/*': 'use `background`',
    '* /fine_tuning/*': 'Rondo trains no models',
    '* /evals/*': 'use `rondo eval`',
    '* /assistants/*': 'use stored agents at `/v1/agents`',
    '* /threads/*': 'use `/conversations`, or `/v1/threads`',
    '* /realtime/*': 'Rondo runs agents',
    '* /agents/*': 'use stored agents at `/v1/agents`',
    '* /skills/*': 'use stored agents at `/v1/agents`',
    '* /webhooks/*': 'use `/v1/webhooks`',
    '* /organization/*': 'use `/v1/admin`',
  },
  requests: {
    'POST /responses': {
      served: {
        model:
          'a stored agent by name or id, or a model; default: [as for all façades](../facades.md#agents-models-and-instructions)',
        input:
          'text, or a list of messages, images as data URLs (`detail` is not read), and results of calls; items that Rondo gave out name their thread',
        instructions:
          'with `system` and `developer` messages the [instructions](../facades.md#agents-models-and-instructions) of the run',
        previous_response_id: 'goes on with its thread; only the newest response of a thread',
        conversation: 'goes on with this thread',
        tools:
          'functions are [tools of the caller](../caller-tools.md); `{"type": "mcp", "server_label": "rondo"}` is accepted and changes nothing, so `allowed_tools`, and `require_approval` for single tools, are refused',
        tool_choice: '`auto`, `none`, `required`',
        stream: 'events',
        background: 'the answer comes at once; poll it, or stream it with `starting_after`',
        metadata: 'that of the run. `on_disconnect: "cancel"` stops it when the client goes away',
        max_output_tokens: 'of one reply of the model',
        temperature: 'passed to the model',
        top_p: 'passed to the model',
        reasoning: '`effort`; `summary` is shown where the model gives it',
        text: '`format`: text, `json_object`, `json_schema`; `verbosity` is accepted and means nothing',
        'safety_identifier, user': 'the [user](../users.md) of a new thread',
        'prompt_cache_key, prompt_cache_retention, service_tier, stream_options': 'are accepted and mean nothing',
      },
      refused: {
        store: { why: 'what a run does is always in its log', harmless: [true] },
        include: { why: 'nothing can be included' },
        truncation: { why: 'a thread is compacted by itself', harmless: ['disabled'] },
        parallel_tool_calls: { why: 'the model decides how many calls it makes', harmless: [true] },
        max_tool_calls: { why: 'use `limits` of a stored agent' },
        prompt: { why: 'use a stored agent' },
        top_logprobs: { why: 'there are no log probabilities', harmless: [0] },
        context_management: { why: 'a thread is compacted by itself' },
        moderation: { why: 'there is none' },
        prompt_cache_options: { why: 'the provider decides' },
      },
    },
    'POST /chat/completions': {
      served: {
        model: 'the same as of a response',
        messages:
          'the newest is carried out; those before it name the thread, or are given to the model as a transcript. `name` of a message and `detail` of an image are not read',
        tools: 'functions are [tools of the caller](../caller-tools.md)',
        tool_choice: '`auto`, `none`, `required`',
        stream: 'chunks; `stream_options.include_usage` adds one with the usage',
        metadata: 'that of the run. `on_disconnect: "cancel"` stops it when the client goes away',
        'max_tokens, max_completion_tokens': 'of one reply of the model',
        temperature: 'passed to the model',
        top_p: 'passed to the model',
        reasoning_effort: 'passed to the model',
        response_format: 'passed to the model',
        'safety_identifier, user':
          'the [user](../users.md) of a new thread. A chat goes on only where it began with the same one',
        'prompt_cache_key, prompt_cache_retention, service_tier, verbosity': 'are accepted and mean nothing',
      },
      refused: {
        n: { why: 'a run has one answer', harmless: [1] },
        store: { why: 'what a run does is always in its log', harmless: [true] },
        stop: { why: 'a run ends by itself' },
        logprobs: { why: 'there are no log probabilities', harmless: [false] },
        top_logprobs: { why: 'there are no log probabilities', harmless: [0] },
        logit_bias: { why: 'use `llm.extra_body` of a stored agent' },
        frequency_penalty: { why: 'use `llm.extra_body` of a stored agent', harmless: [0] },
        presence_penalty: { why: 'use `llm.extra_body` of a stored agent', harmless: [0] },
        seed: { why: 'use `llm.extra_body` of a stored agent' },
        parallel_tool_calls: { why: 'the model decides how many calls it makes', harmless: [true] },
        functions: { why: 'use `tools`' },
        function_call: { why: 'use `tool_choice`' },
        modalities: { why: 'an answer is text' },
        audio: { why: 'an answer is text' },
        prediction: { why: 'a run has no predicted output' },
        web_search_options: { why: 'a stored agent has its own tools' },
        moderation: { why: 'there is none' },
      },
    },
  },
} as const satisfies FacadeCoverage;

/** Fields that clients send to everyone. */
const ignored = {
  user: z.unknown().optional(),
  safety_identifier: z.unknown().optional(),
  prompt_cache_key: z.unknown().optional(),
  prompt_cache_retention: z.unknown().optional(),
  service_tier: z.unknown().optional(),
};

const functionName = z.string().min(1).max(64);
const functionFields = {
  name: functionName,
  description: z.string().nullish(),
  parameters: z.record(z.string(), z.unknown()).nullish(),
  strict: z.boolean().nullish(),
};

const notAFunction = 'only tools of the type "function" are served; a stored agent has its own tools';

/** Stands for the tools that Rondo runs: some clients answer approvals only for a server that they have declared. */
const ownServer = z.looseObject({
  type: z.literal('mcp'),
  allowed_tools: z.null('is not served: the tools of a run are those of its agent').optional(),
  require_approval: z
    .enum(['always', 'never'], 'is not served for single tools: an agent says which calls need an approval')
    .nullish(),
  server_label: z.literal(
    'rondo',
    'only "rondo" is served, the tools of Rondo itself; a stored agent has its own servers',
  ),
});
const responsesTool = z.discriminatedUnion(
  'type',
  [z.looseObject({ type: z.literal('function'), ...functionFields }), ownServer],
  notAFunction,
);
const chatTool = z.strictObject({
  type: z.literal('function', notAFunction),
  function: z.strictObject(functionFields),
});

const toolChoice = z.enum(['auto', 'none', 'required'], 'must be auto, none or required').nullish();

/** A hint that most models do not know. */
const verbosity = z.enum(['low', 'medium', 'high']).nullish();

const responseFormat = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text') }),
  z.strictObject({ type: z.literal('json_object') }),
  z.strictObject({
    type: z.literal('json_schema'),
    name: z.string(),
    schema: z.record(z.string(), z.unknown()),
    description: z.string().nullish(),
    strict: z.boolean().nullish(),
  }),
]);

const common = {
  model: z.string().min(1).max(300).nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  tool_choice: toolChoice,
  stream: z.boolean().nullish(),
  metadata: metadata.nullish(),
  ...ignored,
};

const responseRequest = z.strictObject({
  ...common,
  input: z.union([z.string(), z.array(z.looseObject({}))]).nullish(),
  instructions: z.string().nullish(),
  previous_response_id: z.string().nullish(),
  conversation: z.union([z.string(), z.strictObject({ id: z.string() })]).nullish(),
  tools: z.array(responsesTool).nullish(),
  background: z.boolean().nullish(),
  max_output_tokens: z.number().int().positive().nullish(),
  reasoning: z
    .strictObject({
      effort: reasoningEffort.nullish(),
      summary: z.unknown().optional(),
      generate_summary: z.unknown().optional(),
    })
    .nullish(),
  text: z.strictObject({ format: responseFormat.nullish(), verbosity }).nullish(),
  stream_options: z.unknown().optional(),
  ...refuseFields(openAiCoverage.requests['POST /responses'].refused),
});
export type OpenAiResponseRequest = z.infer<typeof responseRequest>;

const chatMessage = z.looseObject({
  role: z.enum(['system', 'developer', 'user', 'assistant', 'tool']),
  content: z.union([z.string(), z.array(z.looseObject({ type: z.string() }))]).nullish(),
  tool_calls: z
    .array(z.looseObject({ id: z.string(), function: z.looseObject({ name: z.string(), arguments: z.string() }) }))
    .nullish(),
  tool_call_id: z.string().nullish(),
});
export type OpenAiChatMessage = z.infer<typeof chatMessage>;

const chatRequest = z.strictObject({
  ...common,
  messages: z.array(chatMessage).min(1),
  tools: z.array(chatTool).nullish(),
  max_tokens: z.number().int().positive().nullish(),
  max_completion_tokens: z.number().int().positive().nullish(),
  reasoning_effort: reasoningEffort.nullish(),
  verbosity,
  response_format: z.looseObject({ type: z.enum(['text', 'json_object', 'json_schema']) }).nullish(),
  stream_options: z
    .strictObject({ include_usage: z.boolean().nullish(), include_obfuscation: z.boolean().nullish() })
    .nullish(),
  ...refuseFields(openAiCoverage.requests['POST /chat/completions'].refused),
});
export type OpenAiChatRequest = z.infer<typeof chatRequest>;

const itemList = z.array(z.looseObject({})).max(20);
const newConversation = z.strictObject({ metadata: metadata.nullish(), items: itemList.nullish() });
const newItems = z.strictObject({ items: itemList.min(1) });

const listQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(100).default(20),
  order: z.enum(['asc', 'desc']).default('desc'),
  after: z.string().optional(),
});

const flag = z.enum(['true', 'false']).optional();
const retrieval = z.strictObject({
  stream: flag,
  starting_after: z.coerce.number().int().nonnegative().optional(),
  include_obfuscation: flag,
});

const param = <const Property extends string>(property: Property, example: string) => ({
  schema: z.string().min(1).max(300),
  property,
  example,
});
const params = {
  response_id: param('responseId', 'resp_1'),
  conversation_id: param('conversationId', 'conv_1'),
  item_id: param('itemId', 'msg_1'),
  model_name: param('model', 'demo/coder'),
} as const;

/** The objects are built by the translation, whose specs check their form. */
const object = { body: z.unknown() } as const;
const streamed = { description: 'The object, or server-sent events.', events: z.unknown() } as const;
const base = '/openai/v1';

/** Routes that clients of OpenAI's API call. They are no part of the API: their form is OpenAI's. */
export const openAi = defineRoutes('openai', {
  listOpenAiModels: {
    method: 'GET',
    path: `${base}/models`,
    summary: 'List agents and models',
    answers: { 200: object },
  },
  getOpenAiModel: {
    method: 'GET',
    path: `${base}/models/{model_name}`,
    summary: 'Read an agent or a model',
    params,
    answers: { 200: object },
  },
  createOpenAiResponse: {
    method: 'POST',
    path: `${base}/responses`,
    summary: 'Start a run, or go on with one',
    body: responseRequest,
    storesAnswer: false,
    answers: { 200: streamed },
  },
  getOpenAiResponse: {
    method: 'GET',
    path: `${base}/responses/{response_id}`,
    summary: 'Read a response, or follow it',
    params,
    query: retrieval,
    answers: { 200: streamed },
  },
  cancelOpenAiResponse: {
    method: 'POST',
    path: `${base}/responses/{response_id}/cancel`,
    summary: 'Stop a response',
    audit: 'run.stop',
    params,
    body: z.looseObject({}),
    answers: { 200: object },
  },
  deleteOpenAiResponse: {
    method: 'DELETE',
    path: `${base}/responses/{response_id}`,
    summary: 'Delete a response and its thread',
    audit: 'thread.delete',
    params,
    answers: { 200: object },
  },
  listOpenAiInputItems: {
    method: 'GET',
    path: `${base}/responses/{response_id}/input_items`,
    summary: 'List what a response was asked',
    params,
    query: listQuery,
    answers: { 200: object },
  },
  createOpenAiConversation: {
    method: 'POST',
    path: `${base}/conversations`,
    summary: 'Create a thread',
    body: newConversation,
    answers: { 200: object },
  },
  getOpenAiConversation: {
    method: 'GET',
    path: `${base}/conversations/{conversation_id}`,
    summary: 'Read a thread',
    params,
    answers: { 200: object },
  },
  deleteOpenAiConversation: {
    method: 'DELETE',
    path: `${base}/conversations/{conversation_id}`,
    summary: 'Delete a thread',
    audit: 'thread.delete',
    params,
    answers: { 200: object },
  },
  listOpenAiItems: {
    method: 'GET',
    path: `${base}/conversations/{conversation_id}/items`,
    summary: 'List what was said and done on a thread',
    params,
    query: listQuery,
    answers: { 200: object },
  },
  createOpenAiItems: {
    method: 'POST',
    path: `${base}/conversations/{conversation_id}/items`,
    summary: 'Add messages of the user to a thread',
    params,
    body: newItems,
    answers: { 200: object },
  },
  getOpenAiItem: {
    method: 'GET',
    path: `${base}/conversations/{conversation_id}/items/{item_id}`,
    summary: 'Read an item of a thread',
    params,
    answers: { 200: object },
  },
  createOpenAiChatCompletion: {
    method: 'POST',
    path: `${base}/chat/completions`,
    summary: 'Answer the newest message of a chat',
    body: chatRequest,
    storesAnswer: false,
    answers: { 200: streamed },
  },
} satisfies Record<string, RouteDefinition>);
