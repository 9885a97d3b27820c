import * as chat from './chat-rules';
import type { ChatHabits } from './chat-reply';
import type { DocumentForm } from './document-rules';
import * as messages from './messages';
import * as responses from './responses';

interface Common {
  readonly name: string;
  readonly model: string;
  /** More fields of its entry in MODEL_PROVIDERS. */
  readonly settings?: object;
  /** Of its base URL, where it is not the usual one. */
  readonly path?: string;
  /** Bedrock sends events in frames of its own. */
  readonly framing?: 'aws';
  /** How it takes PDFs. Absent: not at all. */
  readonly documents?: DocumentForm;
  /** What it says of a prompt that is too long. */
  readonly tooLong: Refusal;
  /** How it wraps any other refusal. */
  readonly wrap?: (message: string) => object;
}

interface Refusal {
  readonly status: number;
  readonly body: object;
}

/** A provider as strict as the real one is known to be. The first rule that finds a reason refuses a request. */
export type StrictProvider =
  | (Common & { readonly protocol: 'chat'; readonly rules: readonly chat.ChatRule[]; readonly habits: ChatHabits })
  | (Common & {
      readonly protocol: 'messages';
      readonly rules: readonly messages.MessagesRule[];
      readonly signs: boolean;
    })
  | (Common & { readonly protocol: 'responses'; readonly rules: readonly responses.ResponsesRule[] });

const openAiError = (message: string, code: string | null = null): object => ({
  error: { message, type: 'invalid_request_error', param: null, code },
});

const tooLong = (message: string, status = 400, code: string | null = null): Refusal => ({
  status,
  body: openAiError(message, code),
});

const openAiTooLong = tooLong(
  "This model's maximum context length is 128000 tokens. However, your messages resulted in 140312 tokens.",
  400,
  'context_length_exceeded',
);

const anyChat = [chat.pairsCalls, chat.systemComesFirst];
const openAiRules = [...anyChat, chat.idsMatch(/^.{1,40}$/), chat.atMost128Tools, chat.noThoughtsInside];
const claudeRules = [messages.pairsUses, messages.seesTheImage, messages.requireSignedThoughts];
const claudeTooLong: Refusal = {
  status: 400,
  body: {
    type: 'error',
    error: { type: 'invalid_request_error', message: 'prompt is too long: 208310 tokens > 200000 maximum' },
  },
};
const letters = (length: number, step: number) => `${step}`.padStart(length, 'k');

/** Each is a provider that users name, with the refusals and habits that are on record for it. */
export const strictProviders: readonly StrictProvider[] = [
  {
    name: 'openai',
    protocol: 'chat',
    model: 'gpt-4.1',
    documents: 'file',
    rules: [...openAiRules, chat.seesTheImage, chat.refusesParameters('reasoning_effort')],
    habits: { usage: 'own chunk', callId: (step) => `call_${letters(24, step)}` },
    tooLong: openAiTooLong,
  },
  {
    name: 'azure',
    protocol: 'chat',
    model: 'gpt-4o',
    documents: 'file',
    settings: { kind: 'azure' },
    path: '',
    rules: [...openAiRules, chat.seesTheImage, chat.refusesParameters('reasoning_effort')],
    habits: { usage: 'own chunk', callId: (step) => `call_${letters(24, step)}` },
    tooLong: openAiTooLong,
  },
  {
    name: 'openai-responses',
    protocol: 'responses',
    model: 'gpt-5.2',
    documents: 'input_file',
    settings: { api: 'responses' },
    rules: [
      responses.storesNothing,
      responses.pairsOutputs,
      responses.reasoningReturns,
      responses.asksForEffort('high'),
    ],
    tooLong: tooLong('Your input exceeds the context window of this model.', 400, 'context_length_exceeded'),
  },
  {
    name: 'deepseek',
    protocol: 'chat',
    model: 'deepseek-v4-pro',
    rules: [
      ...anyChat,
      chat.refusesImages('messages[1]: unknown variant `image_url`, expected `text`'),
      chat.thoughtsReturn('reasoning_content'),
    ],
    habits: { thoughts: 'reasoning_content', callId: (step) => `call_00_${step}`, opening: ': keep-alive\n\n' },
    tooLong: tooLong("This model's maximum context length is 131072 tokens. However, you requested 140000 tokens."),
  },
  {
    name: 'deepseek-r1',
    protocol: 'chat',
    model: 'deepseek-reasoner',
    rules: [
      ...anyChat,
      chat.refusesImages('messages[1]: unknown variant `image_url`, expected `text`'),
      chat.noThoughtsInside,
    ],
    habits: { thoughts: 'reasoning_content', callId: (step) => `call_0_${step}` },
    tooLong: tooLong("This model's maximum context length is 131072 tokens. However, you requested 140000 tokens."),
  },
  {
    name: 'kimi',
    protocol: 'chat',
    model: 'kimi-k2-thinking',
    rules: [...anyChat, chat.thoughtsReturn('reasoning_content')],
    habits: {
      thoughts: 'reasoning_content',
      usage: 'in the choice',
      callId: (step) => `functions.execute_command:${step}`,
    },
    tooLong: tooLong('Invalid request: Your request exceeded model token limit: 131072'),
  },
  {
    name: 'zai',
    protocol: 'chat',
    model: 'glm-5',
    rules: [
      ...anyChat,
      chat.refusesImages('This model does not support image input.'),
      chat.thoughtsReturn('reasoning_content'),
    ],
    habits: { thoughts: 'reasoning_content', calls: 'whole', callId: (step) => `call_${step}` },
    tooLong: { status: 400, body: { error: { code: '1261', message: 'Prompt exceeds max length' } } },
  },
  {
    name: 'qwen',
    protocol: 'chat',
    model: 'qwen3-max',
    rules: anyChat,
    habits: { thoughts: 'reasoning_content', calls: 'empty ids', usage: 'own chunk', callId: (step) => `call_${step}` },
    tooLong: tooLong('<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]'),
  },
  {
    name: 'gemini',
    protocol: 'chat',
    model: 'gemini-3-pro-preview',
    documents: 'image_url',
    rules: [
      ...[...anyChat, chat.plainSchemas, chat.seesTheImage, chat.signaturesReturn],
      chat.effortsAre('none', 'low', 'medium', 'high'),
    ],
    habits: {
      signsCalls: true,
      calls: 'numbered 0',
      usage: 'each chunk',
      ends: ['stop', 'stop'],
      callId: (step) => `function-call-${step}`,
    },
    tooLong: {
      status: 400,
      body: [
        {
          error: {
            code: 400,
            message: 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
            status: 'INVALID_ARGUMENT',
          },
        },
      ],
    },
  },
  {
    name: 'openrouter',
    protocol: 'chat',
    model: 'openai/gpt-5.2',
    documents: 'file',
    rules: [...anyChat, chat.idsMatch(/^.{1,40}$/), chat.detailsReturn],
    habits: { thoughts: 'details', opening: ': OPENROUTER PROCESSING\n\n', callId: (step) => `tool_0_${step}` },
    tooLong: tooLong(
      "This endpoint's maximum context length is 128000 tokens. However, you requested about 140000 tokens.",
    ),
  },
  {
    name: 'mistral',
    protocol: 'chat',
    model: 'magistral-medium-latest',
    rules: [
      ...anyChat,
      chat.noUserAfterTool,
      chat.idsMatch(/^[a-zA-Z0-9]{9}$/),
      chat.messagesHaveOnly('role', 'content', 'tool_calls', 'tool_call_id', 'name', 'prefix'),
      chat.parametersAre(
        ...['model', 'messages', 'stream', 'stream_options', 'tools', 'tool_choice', 'temperature', 'top_p'],
        ...['max_tokens', 'stop', 'response_format', 'parallel_tool_calls', 'prompt_mode', 'reasoning_effort'],
      ),
      chat.thoughtsAreParts,
    ],
    habits: { thoughts: 'parts', calls: 'whole', callId: (step) => letters(9, step) },
    tooLong: {
      status: 400,
      body: {
        object: 'error',
        message:
          'Prompt contains 140000 tokens and 0 draft tokens, too large for model with 131072 maximum context length',
        type: 'invalid_request_error',
        code: '3051',
      },
    },
    wrap: (message) => ({ object: 'error', message, type: 'invalid_request_error', param: null, code: '3230' }),
  },
  {
    name: 'groq',
    protocol: 'chat',
    model: 'openai/gpt-oss-120b',
    rules: [
      ...anyChat,
      chat.messagesHaveOnly('role', 'content', 'tool_calls', 'tool_call_id', 'name', 'reasoning'),
      chat.effortsAre('none', 'low', 'medium', 'high'),
    ],
    habits: { thoughts: 'reasoning', calls: 'whole', usage: 'x_groq', callId: (step) => `fc_${step}` },
    tooLong: tooLong('Please reduce the length of the messages or completion.', 400, 'context_length_exceeded'),
  },
  {
    name: 'xai',
    protocol: 'chat',
    model: 'grok-4',
    rules: [
      ...anyChat,
      chat.refusesParameters('presence_penalty', 'stop'),
      ({ reasoning_effort: effort }) =>
        effort === undefined ? undefined : 'Model grok-4 does not support parameter reasoningEffort.',
    ],
    habits: { thoughts: 'reasoning_content', calls: 'whole', usage: 'own chunk', callId: (step) => `call_${step}` },
    tooLong: {
      status: 400,
      body: {
        code: 'Client specified an invalid argument',
        error: "This model's maximum prompt length is 256000 but the request contains 300000 tokens.",
      },
    },
    wrap: (error) => ({ code: 'Client specified an invalid argument', error }),
  },
  {
    name: 'together',
    protocol: 'chat',
    model: 'Qwen/Qwen3-235B-A22B-Thinking-2507',
    rules: anyChat,
    habits: { thoughts: 'tags', usage: 'own chunk', ends: ['eos', 'tool_calls'], callId: (step) => `call_${step}` },
    tooLong: tooLong('Input validation error: `inputs` tokens + `max_new_tokens` must be <= 32769.', 422),
  },
  {
    name: 'fireworks',
    protocol: 'chat',
    model: 'accounts/fireworks/models/kimi-k2-thinking',
    rules: [...anyChat, chat.thoughtsReturn('reasoning_content')],
    habits: { thoughts: 'reasoning_content', usage: 'last chunk', callId: (step) => `call_${step}` },
    tooLong: tooLong('The prompt is too long: 140000, model maximum context length: 131071'),
  },
  {
    name: 'vllm',
    protocol: 'chat',
    model: 'google/gemma-3-27b-it',
    rules: [...anyChat, chat.rolesAlternate, chat.seesTheImage],
    habits: { thoughts: 'reasoning', usage: 'own chunk', callId: (step) => `chatcmpl-tool-${step}` },
    tooLong: {
      status: 400,
      body: {
        object: 'error',
        message: 'The decoder prompt (length 140000) is longer than the maximum model length of 131072.',
        type: 'BadRequestError',
        code: 400,
      },
    },
  },
  {
    name: 'llamacpp',
    protocol: 'chat',
    model: 'local',
    rules: [...anyChat, chat.contentIsPresent],
    habits: { thoughts: 'reasoning_content', callId: (step) => letters(32, step) },
    tooLong: {
      status: 400,
      body: {
        error: {
          code: 400,
          message:
            'the request exceeds the available context size. try increasing the context size or enable context shift',
          type: 'exceed_context_size_error',
        },
      },
    },
  },
  {
    name: 'ollama',
    protocol: 'chat',
    model: 'qwen3',
    rules: anyChat,
    habits: { thoughts: 'reasoning', calls: 'numbered 0', usage: 'own chunk', callId: (step) => `call_${step}` },
    tooLong: tooLong('prompt too long; exceeded max context length by 8000 tokens'),
  },
  {
    name: 'lmstudio',
    protocol: 'chat',
    model: 'qwen/qwen3-8b',
    rules: anyChat,
    habits: { thoughts: 'reasoning_content', usage: 'own chunk', callId: (step) => `${100_000 + step}` },
    tooLong: {
      status: 400,
      body: {
        error:
          'Trying to keep the first 14000 tokens when context the overflows. However, the model is loaded with context length of only 8192 tokens',
      },
    },
    wrap: (error) => ({ error }),
  },
  {
    name: 'litellm',
    protocol: 'chat',
    model: 'bedrock/claude-sonnet-4-5',
    rules: [...anyChat, chat.seesTheImage],
    habits: { thoughts: 'reasoning_content', usage: 'own chunk', callId: (step) => `tooluse_${step}` },
    tooLong: tooLong(
      'litellm.ContextWindowExceededError: litellm.BadRequestError: BedrockException: Context Window Error - Input is too long for requested model.',
    ),
  },
  {
    name: 'bedrock',
    protocol: 'chat',
    model: 'openai.gpt-oss-120b-1:0',
    rules: anyChat,
    habits: { thoughts: 'reasoning', usage: 'own chunk', callId: (step) => `chatcmpl-tool-${step}` },
    tooLong: tooLong('Input is too long for requested model.'),
  },
  {
    name: 'any-other',
    protocol: 'chat',
    model: 'some-model',
    rules: anyChat,
    habits: { callId: (step) => `call_${step}` },
    tooLong: openAiTooLong,
  },
  {
    name: 'anthropic',
    protocol: 'messages',
    model: 'claude-sonnet-4-5',
    documents: 'document',
    rules: claudeRules,
    signs: true,
    tooLong: claudeTooLong,
  },
  {
    name: 'bedrock-claude',
    protocol: 'messages',
    model: 'anthropic.claude-sonnet-4-5-20250929-v1:0',
    documents: 'document',
    settings: {
      kind: 'bedrock',
      region: 'eu-central-1',
      access_key_variable: 'STRICT_KEY',
      secret_key_variable: 'STRICT_KEY',
    },
    framing: 'aws',
    rules: claudeRules,
    signs: true,
    tooLong: { status: 400, body: { message: 'Input is too long for requested model.' } },
    wrap: (message) => ({ message }),
  },
  {
    name: 'vertex-claude',
    protocol: 'messages',
    model: 'claude-sonnet-4-5@20250929',
    documents: 'document',
    settings: { kind: 'vertex', project: 'mine', region: 'europe-west1', api_key_variable: 'STRICT_KEY' },
    rules: claudeRules,
    signs: true,
    tooLong: claudeTooLong,
  },
  {
    name: 'kimi-anthropic',
    protocol: 'messages',
    model: 'kimi-k2-thinking',
    rules: [messages.pairsUses, messages.unsignedThoughtsReturn],
    signs: false,
    tooLong: {
      status: 400,
      body: {
        type: 'error',
        error: {
          type: 'invalid_request_error',
          message: 'Invalid request: Your request exceeded model token limit: 131072',
        },
      },
    },
  },
];

/** A refusal in the provider's own shape. */
export function wrapRefusal(provider: StrictProvider, message: string): object {
  if (provider.wrap) return provider.wrap(message);
  return provider.protocol === 'messages'
    ? { type: 'error', error: { type: 'invalid_request_error', message } }
    : openAiError(message);
}
