import type { LlmSettings } from '@rondo/contract';
import { type ModelRequest, type ModelTool, memoize, splitModelName } from '@rondo/domain';
import type OpenAI from 'openai';
import { openAiFamily } from './openai-family';
import { toOpenAiMessages } from './openai-messages';

type Request = OpenAI.ChatCompletionCreateParamsStreaming;

/** The messages stand last, so that a request begins with the text of the one before it. */
export function toOpenAiRequest({ model, system, messages, tools, settings }: ModelRequest): Request {
  const { id } = splitModelName(model);
  return {
    model: id,
    stream: true,
    stream_options: { include_usage: true },
    ...(tools.length > 0 && { tools: tools.map(toOpenAiTool), ...choice(settings) }),
    ...limits(id, settings),
    ...effort(id, settings, tools.length > 0),
    ...format(settings),
    messages: toOpenAiMessages(system, messages),
  };
}

const toOpenAiTool = memoize(({ name, description, schema }: ModelTool): OpenAI.ChatCompletionFunctionTool => ({
  type: 'function',
  function: { name, description, parameters: schema },
}));

const choice = ({ tool_choice }: LlmSettings) => tool_choice && { tool_choice };

/** `max_tokens` is the older name, and the only one that most servers know. */
interface Limits {
  readonly max_tokens?: number;
  readonly max_completion_tokens?: number;
  readonly temperature?: number;
  readonly top_p?: number;
}

function limits(id: string, { max_tokens, temperature, top_p }: LlmSettings): Limits {
  if (openAiFamily(id).reasons) return max_tokens === undefined ? {} : { max_completion_tokens: max_tokens };
  return {
    ...(max_tokens !== undefined && { max_tokens }),
    ...(temperature !== undefined && { temperature }),
    ...(top_p !== undefined && { top_p }),
  };
}

/** The newer reasoning models refuse tools unless they are told not to reason, also where nobody asked them to. */
function effort(id: string, settings: LlmSettings, hasTools: boolean): Partial<Request> {
  const { toolsOrReasoning, plain } = openAiFamily(id);
  if (toolsOrReasoning && hasTools) return { reasoning_effort: 'none' };
  if (plain || settings.enable_thinking === false || !settings.reasoning_effort) return {};
  return { reasoning_effort: settings.reasoning_effort };
}

/** Goes through as it came: the provider judges it. */
function format({ response_format }: LlmSettings): Partial<Request> {
  return response_format
    ? { response_format: response_format as unknown as NonNullable<Request['response_format']> }
    : {};
}
