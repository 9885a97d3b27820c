import { type LlmSettings, type ReasoningEffort, reasoningEffort } from '@rondo/contract';
import { type ModelMessage, type ModelRequest, type ModelTool, memoize, splitModelName } from '@rondo/domain';
import type OpenAI from 'openai';
import type { ProviderProfile } from '../providers/provider-profile';
import { acceptableSchema, plainSchema } from '../acceptable-schema';
import { wireToolName } from '../wire-protocol';
import { type TurnsOf, toOpenAiMessages } from './openai-messages';

type Request = OpenAI.ChatCompletionCreateParams;

/** Puts the messages last, so that a request starts with the text of the previous one. */
export function toOpenAiRequest(
  { model, system, messages, tools, settings }: ModelRequest,
  { streams, profile, turnsOf }: Sending,
): Request {
  const { id } = splitModelName(model);
  const offered = offeredTools(tools, messages, profile);
  const toTool = profile.plainSchemas ? toPlainTool : toOpenAiTool;
  return {
    model: id,
    ...(streams ? { stream: true, ...(!profile.noStreamOptions && counted) } : { stream: false }),
    ...(offered.length > 0 && { tools: offered.map(toTool), ...choice(settings) }),
    ...(tools.length === 0 && offered.length > 0 && { tool_choice: 'none' as const }),
    ...limits(id, settings),
    ...effort(id, settings, { hasTools: tools.length > 0, profile }),
    ...format(settings),
    ...settings.extra_body,
    messages: toOpenAiMessages(system, messages, turnsOf),
  };
}

/** How a server is asked. */
export interface Sending {
  readonly streams: boolean;
  readonly profile: ProviderProfile;
  readonly turnsOf: TurnsOf;
}

const counted = { stream_options: { include_usage: true } } as const;

const usualMaxTools = 128;

/** The tools beyond the most that a server takes: the last ones, which are those of outside servers. */
export const omittedTools = (
  { tools }: ModelRequest,
  { maxTools = usualMaxTools }: ProviderProfile,
): readonly string[] => tools.slice(maxTools).map(({ name }) => name);

/** A conversation with calls needs tools for some servers, even if none is offered any more. */
function offeredTools(
  tools: readonly ModelTool[],
  messages: readonly ModelMessage[],
  { maxTools = usualMaxTools }: ProviderProfile,
): readonly ModelTool[] {
  if (tools.length > 0) return tools.slice(0, maxTools);
  const called = messages.flatMap((message) => (message.role === 'assistant' ? message.content : []));
  const names = new Set(called.flatMap((block) => (block.type === 'tool_call' ? [wireToolName(block.name)] : [])));
  return [...names].map((name) => ({
    name,
    description: 'No longer available.',
    schema: { type: 'object', properties: {} },
  }));
}

const toTool =
  (acceptable: (schema: Record<string, unknown>) => Record<string, unknown>) =>
  ({ name, description, schema }: ModelTool): OpenAI.ChatCompletionFunctionTool => ({
    type: 'function',
    function: { name, description, parameters: acceptable(schema) },
  });
const toOpenAiTool = memoize(toTool(acceptableSchema));
const toPlainTool = memoize(toTool(plainSchema));

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
function effort(
  id: string,
  settings: LlmSettings,
  { hasTools, profile }: { readonly hasTools: boolean; readonly profile: ProviderProfile },
): { reasoning_effort?: ReasoningEffort } {
  const { toolsOrReasoning, plain } = openAiFamily(id);
  if (toolsOrReasoning && hasTools) return { reasoning_effort: 'none' };
  if (plain || settings.enable_thinking === false || !settings.reasoning_effort) return {};
  return { reasoning_effort: nearestEffort(settings.reasoning_effort, profile.efforts ?? reasoningEffort.options) };
}

/** The effort itself, or the next weaker one that there is, or else the weakest. */
function nearestEffort(wanted: ReasoningEffort, known: readonly ReasoningEffort[]): ReasoningEffort {
  const order = reasoningEffort.options;
  const weaker = known.filter((one) => order.indexOf(one) <= order.indexOf(wanted));
  return weaker.at(-1) ?? known[0] ?? wanted;
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
