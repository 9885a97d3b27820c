import {
  type AssistantBlock,
  type ModelMessage,
  type ModelRequest,
  type ModelTool,
  type ModelToolResult,
  type ShownBlock,
  memoize,
  memoizeGrowingList,
  splitModelName,
} from '@rondo/domain';
import type OpenAI from 'openai';
import { z } from 'zod';
import { lostImage, unloadedImage, wireToolName } from '../wire-protocol';

type Request = OpenAI.Responses.ResponseCreateParams & { readonly model: string };
type Item = OpenAI.Responses.ResponseInputItem;
type Part = OpenAI.Responses.ResponseInputText | OpenAI.Responses.ResponseInputImage;

/**
 * The request to the Responses API. Nothing is stored at OpenAI: the conversation is sent each time, with the encrypted
 * reasoning that came with its calls. The input is last, so that a request starts with the text of the previous one.
 */
export function toResponsesRequest(request: ModelRequest, { streams } = { streams: true }): Request {
  const { model, system, tools, settings, messages } = request;
  const { id } = splitModelName(model);
  const { max_tokens, tool_choice } = settings;
  return {
    model: id,
    stream: streams,
    store: false,
    include: ['reasoning.encrypted_content'],
    ...(system.trim() !== '' && { instructions: system }),
    ...(tools.length > 0 && { tools: tools.map(toFunction), ...(tool_choice && { tool_choice }) }),
    ...(max_tokens !== undefined && { max_output_tokens: max_tokens }),
    ...reasoning(request),
    ...format(request),
    ...settings.extra_body,
    input: inputOf(model)(messages).items,
  };
}

const toFunction = memoize(({ name, description, schema }: ModelTool): OpenAI.Responses.FunctionTool => ({
  type: 'function',
  name,
  description,
  parameters: schema,
  strict: false,
}));

function reasoning({ settings }: ModelRequest): Partial<Request> {
  const { enable_thinking, reasoning_effort } = settings;
  if (enable_thinking === false) return { reasoning: { effort: 'none' } };
  return reasoning_effort ? { reasoning: { effort: reasoning_effort } } : {};
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

/** One growing list for each model: what is opaque goes back only to the model that gave it. */
const lists = new Map<string, (messages: readonly ModelMessage[]) => Items>();

function inputOf(model: string): (messages: readonly ModelMessage[]) => Items {
  const known = lists.get(model);
  if (known) return known;
  const list = memoizeGrowingList<ModelMessage, Items>((before = { items: [] }, more) => {
    for (const message of more) before.items.push(...toItems(message, model));
    return before;
  });
  lists.set(model, list);
  return list;
}

function toItems(message: ModelMessage, model: string): Item[] {
  switch (message.role) {
    case 'user':
      return [{ role: 'user', content: filled(message.content.map(toPart)) }];
    case 'assistant':
      return message.content.flatMap((block, at) => assistantItems(block, message.content.slice(at + 1), model));
    case 'tool':
      return message.results.map(outputItem);
  }
}

const filled = (parts: readonly Part[]): Part[] => {
  const kept = parts.filter((part) => part.type !== 'input_text' || part.text.trim() !== '');
  return kept.length > 0 ? kept : [{ type: 'input_text', text: '(empty message)' }];
};

function toPart(block: ShownBlock): Part {
  if (block.type === 'text') return { type: 'input_text', text: block.text };
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
function assistantItems(block: AssistantBlock, after: readonly AssistantBlock[], model: string): Item[] {
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
  summary: z.array(z.object({ type: z.literal('summary_text'), text: z.string() })).default([]),
  encrypted_content: z.string(),
});

function outputItem({ tool_call_id, text, is_error, image }: ModelToolResult): Item {
  const said = text.trim() === '' ? (is_error ? '(failed without output)' : '(no output)') : text;
  const output = image ? [{ type: 'input_text' as const, text: said }, toPart({ type: 'image', source: image })] : said;
  return { type: 'function_call_output', call_id: tool_call_id, output };
}

/** The newer reasoning models take tools together with an effort only here. */
const toolsOrReasoning = /^gpt-(?:5\.[2-9]|[6-9])(?!.*-chat)/;

export function needsResponses({ model, tools, settings }: ModelRequest): boolean {
  const { enable_thinking, reasoning_effort } = settings;
  const reasons =
    enable_thinking !== false && reasoning_effort !== undefined && (reasoning_effort as string) !== 'none';
  return reasons && tools.length > 0 && toolsOrReasoning.test(splitModelName(model).id);
}
