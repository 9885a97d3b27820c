import type { LlmSettings } from '@rondo/contract';
import { type ModelRequest, type ModelTool, memoize, splitModelName } from '@rondo/domain';
import type OpenAI from 'openai';
import { toOpenAiMessages } from './openai-messages';

type Request = OpenAI.ChatCompletionCreateParams;

/** Puts the messages last, so that a request starts with the text of the previous one. */
export function toOpenAiRequest(
  { model, system, messages, tools, settings }: ModelRequest,
  { streams } = { streams: true },
): Request {
  const { id } = splitModelName(model);
  return {
    model: id,
    ...(streams ? { stream: true, stream_options: { include_usage: true } } : { stream: false }),
    ...(tools.length > 0 && { tools: tools.map(toOpenAiTool), ...choice(settings) }),
    ...limits(id, settings),
    ...effort(id, settings, tools.length > 0),
    ...format(settings),
    ...settings.extra_body,
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

/** The newer reasoning models refuse tools unless `reasoning_effort` is `none`. */
function effort(id: string, settings: LlmSettings, hasTools: boolean): Partial<Request> {
  const { toolsOrReasoning, plain } = openAiFamily(id);
  if (toolsOrReasoning && hasTools) return { reasoning_effort: 'none' };
  if (plain || settings.enable_thinking === false || !settings.reasoning_effort) return {};
  return { reasoning_effort: settings.reasoning_effort };
}

/** Passed through unchanged: the provider validates it. */
function format({ response_format }: LlmSettings): Partial<Request> {
  return response_format
    ? { response_format: response_format as unknown as NonNullable<Request['response_format']> }
    : {};
}

/** How OpenAI's models differ in the parameters that they accept. Other makers' models get the parameters as requested. */
interface OpenAiFamily {
  /** Accepts `max_completion_tokens`, no sampling parameters, and a reasoning effort. */
  readonly reasons: boolean;
  /** Refuses a reasoning effort. */
  readonly plain: boolean;
  /** Accepts tools through Chat Completions only while it does not reason. */
  readonly toolsOrReasoning: boolean;
}

const reasoning = /^(?:o\d|gpt-[5-9])(?!.*-chat)/;
const plain = /^(?:gpt-[34]|chatgpt-|gpt-5.*-chat)/;
const toolsOrReasoning = /^gpt-(?:5\.[2-9]|[6-9])(?!.*-chat)/;

const openAiFamily = (id: string): OpenAiFamily => ({
  reasons: reasoning.test(id),
  plain: plain.test(id),
  toolsOrReasoning: toolsOrReasoning.test(id),
});
