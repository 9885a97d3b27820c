import type Anthropic from '@anthropic-ai/sdk';
import type { LlmSettings } from '@rondo/contract';
import { type ModelRequest, type ModelTool, memoize, splitModelName } from '@rondo/domain';
import { z } from 'zod';
import { acceptableSchema, plainSchema } from '../acceptable-schema';
import type { EffortRules } from '../providers/refused-efforts';
import { type ToolRules, needsPlainSchema } from '../providers/refused-tools';
import { wireToolName } from '../wire-protocol';
import type { ToAnthropicTurns } from './anthropic-messages';
import { type Thinking, thinkingFor } from './anthropic-thinking';
import { createMark, markTurns, markSystem } from './cache-marks';
import { type ClaudeFamily, claudeFamily } from './claude-family';

/** Parameters of older models, which the SDK's types no longer have. */
interface Sampling {
  readonly temperature?: number;
  readonly top_p?: number;
}

type Request = Anthropic.MessageCreateParamsStreaming & Sampling;

/** Puts the messages last, so that a request starts with the text of the previous one, apart from the cache marks. */
export function toAnthropicRequest(
  request: ModelRequest,
  { toTurns, rules = {}, family = findFamily(request) }: AnthropicSending,
  { thinks, parameters } = thinkingIn(request, { family, rules }),
): Request {
  const { model, system, messages, tools, settings, waitsLong = false } = request;
  const { id } = splitModelName(model);
  const mark = family.uncached ? undefined : createMark(waitsLong);
  const { samples, structuredOutputs, choosesTools = false } = family;
  const format = structuredOutputs && outputFormat(settings);
  return {
    model: id,
    max_tokens: longestReply(request, family),
    stream: true,
    ...(system.trim() !== '' && { system: markSystem(system, mark) }),
    ...toolsFor({ tools, messages, rules }, toolChoice(settings, thinks || choosesTools)),
    ...(!thinks && samples && sampling(settings)),
    ...parameters,
    ...(format && { output_config: { ...parameters.output_config, format } }),
    ...settings.extra_body,
    messages: markTurns(toTurns(messages), mark),
  };
}

/** How a server is asked. */
interface AnthropicSending {
  readonly toTurns: ToAnthropicTurns;
  readonly rules?: ToolRules & EffortRules;
  /** As far as it is known better than by the name of the model. */
  readonly family?: ClaudeFamily;
}

/** A limit that the run sets may be above that of a model that is not known. */
const longestReply = ({ settings }: ModelRequest, { maxTokens, learnsLimit }: ClaudeFamily): number =>
  learnsLimit ? Math.min(settings.max_tokens ?? maxTokens, maxTokens) : (settings.max_tokens ?? maxTokens);

const findFamily = ({ model }: ModelRequest): ClaudeFamily => claudeFamily(splitModelName(model).id);

/** How the request asks the model to think. */
export function thinkingIn(
  request: ModelRequest,
  { family, rules: { efforts } }: { readonly family: ClaudeFamily; readonly rules: EffortRules },
): Thinking {
  const { model, settings, messages } = request;
  const maxTokens = longestReply(request, family);
  return thinkingFor({ family, settings, messages, maxTokens, maker: toMaker(model), efforts });
}

/** The model, as its thinking names it. */
export const toMaker = (model: string): string => `anthropic/${splitModelName(model).id}`;

/** A conversation with calls needs tools, even if none is offered any more. */
function toolsFor(
  { tools, messages, rules }: Pick<ModelRequest, 'tools' | 'messages'> & { readonly rules: ToolRules },
  tool_choice: Anthropic.ToolChoice | undefined,
): Pick<Request, 'tools' | 'tool_choice'> {
  const declare = (tool: ModelTool) => (needsPlainSchema(tool, rules) ? toPlainTool : toAnthropicTool)(tool);
  if (tools.length > 0) return { tools: tools.map(declare), ...(tool_choice && { tool_choice }) };

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

const toTool =
  (acceptable: (schema: ModelTool['schema']) => ModelTool['schema']) =>
  ({ name, description, schema }: ModelTool): Anthropic.Tool => ({
    name,
    description,
    input_schema: { ...declarable(acceptable(schema)), type: 'object' },
  });
const toAnthropicTool = memoize(toTool(acceptableSchema));
const toPlainTool = memoize(toTool(plainSchema));

const declarableName = /^[\w.-]{1,64}$/;

/** Anthropic refuses tools that declare an argument of another name; such a one is told. Models may write it all the same. */
function declarable({ properties, ...schema }: ModelTool['schema']): ModelTool['schema'] {
  const all = Object.entries(properties ?? {});
  const told = all.filter(([name]) => !declarableName.test(name));
  if (told.length === 0) return { ...schema, properties };
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  const said = typeof schema['description'] === 'string' ? `${schema['description']} ` : '';
  return {
    ...schema,
    properties: Object.fromEntries(all.filter(([name]) => declarableName.test(name))),
    required: required.filter((name: unknown) => declarableName.test(String(name))),
    description: `${said}It also has these arguments: ${JSON.stringify(Object.fromEntries(told)).slice(0, 2_000)}`,
  };
}

/** A thinking model, and some others, cannot be forced to call a tool: then `required` becomes `auto`. */
function toolChoice({ tool_choice }: LlmSettings, chooses: boolean): Anthropic.ToolChoice | undefined {
  switch (tool_choice) {
    case undefined:
      return undefined;
    case 'required':
      return { type: chooses ? 'auto' : 'any' };
    case 'auto':
    case 'none':
      return { type: tool_choice };
  }
}

/** Only one of the two is accepted; Anthropic's temperatures end at 1. */
function sampling({ temperature, top_p }: LlmSettings): Sampling {
  if (temperature !== undefined) return { temperature: Math.min(temperature, 1) };
  return top_p === undefined ? {} : { top_p };
}

/** OpenAI's form, which runs use. */
const jsonSchemaFormat = z.object({
  type: z.literal('json_schema'),
  json_schema: z.object({ schema: z.record(z.string(), z.unknown()) }),
});

/** Undefined for `json_object` too: Anthropic has no format for JSON of any shape, and the prompt already asks for it. */
function outputFormat({ response_format }: LlmSettings): Anthropic.JSONOutputFormat | undefined {
  const { data } = jsonSchemaFormat.safeParse(response_format);
  return data && { type: 'json_schema', schema: data.json_schema.schema };
}
