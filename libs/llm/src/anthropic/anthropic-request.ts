import type Anthropic from '@anthropic-ai/sdk';
import { type LlmSettings, type ModelMessage, type ModelRequest, type ModelTool, splitModelName } from '@rondo/domain';
import { wireToolName } from '../wire-names';
import { toAnthropicMessages } from './anthropic-messages';
import { thinkingFor } from './anthropic-thinking';
import { markTurns, markedSystem } from './cache-marks';
import { claudeFamily } from './claude-family';

/** The SDK has dropped what only the older models take. */
interface Sampling {
  readonly temperature?: number;
  readonly top_p?: number;
}

type Request = Anthropic.MessageCreateParamsStreaming & Sampling;

/** The messages stand last, so that a request begins with the text of the one before it, but for the marks. */
export function toAnthropicRequest({ model, system, messages, tools, settings }: ModelRequest): Request {
  const { id } = splitModelName(model);
  const maxTokens = settings.max_tokens ?? claudeFamily(id).maxTokens;
  const { thinks, parameters } = thinkingFor({ id, settings, messages, maxTokens });
  return {
    model: id,
    max_tokens: maxTokens,
    stream: true,
    ...(system.trim() !== '' && { system: markedSystem(system) }),
    ...toolsFor(tools, messages, toolChoice(settings, thinks)),
    ...(!thinks && claudeFamily(id).samples && sampling(settings)),
    ...parameters,
    messages: markTurns(toAnthropicMessages(messages)),
  };
}

/** A conversation with calls needs tools, also when none is offered any more. */
function toolsFor(
  tools: readonly ModelTool[],
  messages: readonly ModelMessage[],
  tool_choice: Anthropic.ToolChoice | undefined,
): Pick<Request, 'tools' | 'tool_choice'> {
  if (tools.length > 0) return { tools: tools.map(toAnthropicTool), ...(tool_choice && { tool_choice }) };

  const called = messages.flatMap((message) => (message.role === 'assistant' ? message.content : []));
  const names = new Set(called.flatMap((block) => (block.type === 'tool_call' ? [wireToolName(block.name)] : [])));
  if (names.size === 0) return {};
  const gone = [...names].map((name) => ({
    name,
    description: 'No longer available.',
    input_schema: { type: 'object' as const },
  }));
  return { tools: gone, tool_choice: { type: 'none' } };
}

const toAnthropicTool = ({ name, description, schema }: ModelTool): Anthropic.Tool => ({
  name,
  description,
  input_schema: { ...schema, type: 'object' },
});

/** A model that thinks cannot be made to call a tool; it is asked to, and may. */
function toolChoice({ tool_choice }: LlmSettings, thinks: boolean): Anthropic.ToolChoice | undefined {
  switch (tool_choice) {
    case undefined:
      return undefined;
    case 'required':
      return { type: thinks ? 'auto' : 'any' };
    case 'auto':
    case 'none':
      return { type: tool_choice };
  }
}

/** One of the two at most; Anthropic's scale of temperatures ends at 1. */
function sampling({ temperature, top_p }: LlmSettings): Sampling {
  if (temperature !== undefined) return { temperature: Math.min(temperature, 1) };
  return top_p === undefined ? {} : { top_p };
}
