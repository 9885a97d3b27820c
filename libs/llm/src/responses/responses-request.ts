import type { LlmSettings } from '@rondo/contract';
import {
  type AssistantBlock,
  type ModelMessage,
  type ModelRequest,
  type ModelTool,
  type ModelToolResult,
  type ProfileRules,
  type ShownBlock,
  memoize,
  memoizeGrowingList,
  splitModelName,
} from '@rondo/domain';
import type OpenAI from 'openai';
import { z } from 'zod';
import { acceptableSchema, plainSchema } from '../acceptable-schema';
import { openAiFamily } from '../openai/openai-family';
import { type ConversationRules, toDocument } from '../providers/conversation-rules';
import { nearestEffort, takeTools } from '../providers/provider-profile';
import type { PartRules } from '../providers/refused-parts';
import { type ToolRules, needsPlainSchema } from '../providers/refused-tools';
import { lostImage, unloadedImage, unseenImage, wireToolName } from '../wire-protocol';

type Request = OpenAI.Responses.ResponseCreateParams & { readonly model: string };
type Item = OpenAI.Responses.ResponseInputItem;
type Part =
  OpenAI.Responses.ResponseInputText | OpenAI.Responses.ResponseInputImage | OpenAI.Responses.ResponseInputFile;

/**
 * The request to the Responses API. Nothing is stored at OpenAI: the conversation is sent each time, with the encrypted
 * reasoning that came with its calls. The input is last, so that a request starts with the text of the previous one.
 */
export function toResponsesRequest(request: ModelRequest, { streams, profile, toInputs }: Sending): Request {
  const { model, system, settings, messages } = request;
  const { id } = splitModelName(model);
  const { reasons, plain } = openAiFamily(id);
  const { max_tokens, tool_choice, temperature, top_p } = settings;
  const tools = takeTools(request.tools, profile).map((tool) =>
    (needsPlainSchema(tool, profile) ? toPlainFunction : toFunction)(tool),
  );
  return {
    model: id,
    stream: streams,
    store: false,
    ...(!plain && { include: ['reasoning.encrypted_content'] }),
    ...(system.trim() !== '' && { instructions: system }),
    ...(tools.length > 0 && { tools, ...(tool_choice && { tool_choice }) }),
    ...(max_tokens !== undefined && { max_output_tokens: max_tokens }),
    ...(!reasons && temperature !== undefined && { temperature }),
    ...(!reasons && top_p !== undefined && { top_p }),
    ...reasoning(id, settings, profile),
    ...format(request),
    ...settings.extra_body,
    input: toInputs(messages).items,
  };
}

/** How a server is asked. */
export interface Sending {
  readonly streams: boolean;
  readonly profile: ProfileRules & ToolRules & PartRules;
  readonly toInputs: ToInputs;
}

const functionWith =
  (acceptable: (schema: ModelTool['schema']) => ModelTool['schema']) =>
  ({ name, description, schema }: ModelTool): OpenAI.Responses.FunctionTool => ({
    type: 'function',
    name,
    description,
    parameters: acceptable(schema),
    strict: false,
  });
const toFunction = memoize(functionWith(acceptableSchema));
const toPlainFunction = memoize(functionWith(plainSchema));

/** Only the newer models can be told not to reason. */
function reasoning(id: string, settings: LlmSettings, profile: ProfileRules): Partial<Request> {
  const { enable_thinking, reasoning_effort } = settings;
  const { plain, toolsOrReasoning } = openAiFamily(id);
  if (plain) return {};
  if (enable_thinking === false)
    return toolsOrReasoning ? { reasoning: { effort: nearestEffort('none', profile) } } : {};
  return reasoning_effort ? { reasoning: { effort: nearestEffort(reasoning_effort, profile) } } : {};
}

/** Runs use the form of Chat Completions, whose schema is one level deeper. */
const schemaFormat = z.object({ type: z.literal('json_schema'), json_schema: z.looseObject({}) });

function format({ settings: { response_format } }: ModelRequest): Partial<Request> {
  if (!response_format) return {};
  const { data } = schemaFormat.safeParse(response_format);
  const given = data ? { type: data.type, ...data.json_schema } : response_format;
  return { text: { format: given as unknown as OpenAI.Responses.ResponseFormatTextConfig } }; // the provider validates it
}

interface Items {
  readonly items: Item[];
}

/** Writes a conversation for one model: what is opaque goes back only to the model that gave it. */
export type ToInputs = (messages: readonly ModelMessage[]) => Items;

/** Remembers the items of the conversations that grow. */
export const createInputs = (model: string, rules: ConversationRules): ToInputs =>
  memoizeGrowingList<ModelMessage, Items>((before = { items: [] }, more) => {
    for (const message of more) before.items.push(...toItems(message, { model, rules }));
    return before;
  });

interface Recipient {
  readonly model: string;
  readonly rules: ConversationRules;
}

function toItems(message: ModelMessage, recipient: Recipient): Item[] {
  switch (message.role) {
    case 'user':
      return [{ role: 'user', content: dropEmpty(message.content.map((block) => toPart(block, recipient))) }];
    case 'assistant':
      return message.content.flatMap((block, at) => assistantItems(block, message.content.slice(at + 1), recipient));
    case 'tool':
      return message.results.map((result) => outputItem(result, recipient));
  }
}

const dropEmpty = (parts: readonly Part[]): Part[] => {
  const kept = parts.filter((part) => part.type !== 'input_text' || part.text.trim() !== '');
  return kept.length > 0 ? kept : [{ type: 'input_text', text: '(empty message)' }];
};

function toPart(block: ShownBlock, { rules }: Recipient): Part {
  if (block.type === 'text') return { type: 'input_text', text: block.text };
  if (block.type === 'document') {
    const sent = toDocument(block, rules);
    if (typeof sent === 'string') return { type: 'input_text', text: sent };
    return { type: 'input_file', filename: sent.name, file_data: `data:application/pdf;base64,${sent.data}` };
  }
  if (rules.textOnly) return { type: 'input_text', text: unseenImage };
  const { source } = block;
  switch (source.type) {
    case 'base64':
      return { type: 'input_image', detail: 'auto', image_url: `data:${source.media_type};base64,${source.data}` };
    case 'url':
      return { type: 'input_text', text: unloadedImage };
    case 'blob':
      return { type: 'input_text', text: lostImage };
  }
}

/** An item of reasoning must be followed by what it led to; alone it is refused. */
function assistantItems(block: AssistantBlock, after: readonly AssistantBlock[], { model }: Recipient): Item[] {
  switch (block.type) {
    case 'text':
      return block.text.trim() === '' ? [] : [{ role: 'assistant', content: block.text }];
    case 'tool_call': {
      const { id: call_id, name, arguments: input } = block;
      return [{ type: 'function_call', call_id, name: wireToolName(name), arguments: JSON.stringify(input) }];
    }
    case 'reasoning': {
      const leads = after.some(
        (next) => next.type === 'tool_call' || (next.type === 'text' && next.text.trim() !== ''),
      );
      const given =
        leads && block.opaque?.maker === model ? reasoningItem.safeParse(block.opaque.data).data : undefined;
      return given ? [given] : [];
    }
  }
}

/** What is kept of an item of reasoning. */
export const reasoningItem = z.object({
  type: z.literal('reasoning'),
  id: z.string(),
  summary: z.preprocess(
    (given) => given ?? [],
    z.array(z.object({ type: z.literal('summary_text'), text: z.string() })),
  ),
  encrypted_content: z.string(),
});

function outputItem({ tool_call_id, text, is_error, image }: ModelToolResult, recipient: Recipient): Item {
  const said = text.trim() === '' ? (is_error ? '(failed without output)' : '(no output)') : text;
  const output = image
    ? [{ type: 'input_text' as const, text: said }, toPart({ type: 'image', source: image }, recipient)]
    : said;
  return { type: 'function_call_output', call_id: tool_call_id, output };
}

/** The newer reasoning models take tools together with an effort only here. */
export function needsResponses({ model, tools, settings }: ModelRequest): boolean {
  const { enable_thinking, reasoning_effort } = settings;
  const reasons = enable_thinking !== false && reasoning_effort !== undefined && reasoning_effort !== 'none';
  return reasons && tools.length > 0 && openAiFamily(splitModelName(model).id).toolsOrReasoning;
}
