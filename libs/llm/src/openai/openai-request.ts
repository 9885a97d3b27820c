import type { LlmSettings, ReasoningEffort } from '@rondo/contract';
import { type ModelMessage, type ModelRequest, type ModelTool, memoize, splitModelName } from '@rondo/domain';
import type OpenAI from 'openai';
import { acceptableSchema, plainSchema } from '../acceptable-schema';
import type { ConversationRules } from '../providers/conversation-rules';
import { type ProviderProfile, hasEffort, nearestEffort, takeTools } from '../providers/provider-profile';
import { type ToolRules, needsPlainSchema } from '../providers/refused-tools';
import { wireToolName } from '../wire-protocol';
import { openAiFamily } from './openai-family';
import { type ToTurns, toOpenAiMessages } from './openai-messages';

type Request = OpenAI.ChatCompletionCreateParams;

/** Puts the messages last, so that a request starts with the text of the previous one. */
export function toOpenAiRequest(
  { model, system, messages, tools, settings }: ModelRequest,
  { streams, profile, toTurns }: Sending,
): Request {
  const { id } = splitModelName(model);
  const offered = listOfferedTools(tools, messages, profile);
  const declare = (tool: ModelTool) => (needsPlainSchema(tool, profile) ? toPlainTool : toOpenAiTool)(tool);
  return {
    model: id,
    ...(streams ? { stream: true, ...(!profile.noStreamOptions && counted) } : { stream: false }),
    ...(offered.length > 0 && { tools: offered.map(declare), ...choice(settings) }),
    ...(tools.length === 0 && offered.length > 0 && { tool_choice: 'none' as const }),
    ...limits(id, settings),
    ...effort(id, settings, { hasTools: tools.length > 0, profile }),
    ...format(settings),
    ...settings.extra_body,
    messages: profile.noSystem
      ? withInstructions(system, toOpenAiMessages('', messages, toTurns))
      : toOpenAiMessages(system, messages, toTurns),
  };
}

/** How a server is asked. */
export interface Sending {
  readonly streams: boolean;
  readonly profile: ProviderProfile & ToolRules & Pick<ConversationRules, 'noSystem'>;
  readonly toTurns: ToTurns;
}

/** The instructions before the first words of the user, in the same message: roles must alternate. */
function withInstructions(system: string, [first, ...others]: Request['messages']): Request['messages'] {
  if (first?.role !== 'user' || system.trim() === '') return first ? [first, ...others] : [];
  const { content } = first;
  const joined = typeof content === 'string' ? `${system}\n\n${content}` : [textPart(system), ...content];
  return [{ ...first, content: joined }, ...others];
}

const textPart = (text: string) => ({ type: 'text' as const, text });

const counted = { stream_options: { include_usage: true } } as const;

/** A conversation with calls needs tools for some servers, even if none is offered any more. */
function listOfferedTools(
  tools: readonly ModelTool[],
  messages: readonly ModelMessage[],
  profile: Sending['profile'],
): readonly ModelTool[] {
  if (tools.length > 0) return takeTools(tools, profile);
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
  if (toolsOrReasoning && hasTools && hasEffort('none', profile)) return { reasoning_effort: 'none' };
  if (plain || settings.enable_thinking === false || !settings.reasoning_effort) return {};
  return { reasoning_effort: nearestEffort(settings.reasoning_effort, profile) };
}

/** Passed through unchanged: the provider validates it. */
function format({ response_format }: LlmSettings): Partial<Request> {
  return response_format
    ? { response_format: response_format as unknown as NonNullable<Request['response_format']> }
    : {};
}
