import {
  type CallerResult,
  type InputBlock,
  type LlmSettings,
  type RunId,
  type SettingsRequest,
  settingsRequest,
} from '@rondo/contract';
import type { OpenAiChatMessage, OpenAiChatRequest, OpenAiResponseRequest } from '@rondo/contract/api';
import { z } from 'zod';
import { parseInput } from '../../http/parse-input';
import { refuseField } from '../../problems/api-error';
import { type FieldNames, joinInstructions, readCallerResult, readDataUrl, readInput } from '../facade-input';
import { findRunOfItem } from './openai-ids';

/** A message of a conversation. */
export interface Said {
  readonly role: 'user' | 'assistant';
  readonly text: string;
  /** Of a user. Absent: there are none. */
  readonly images?: readonly ImageBlock[];
}

/** What a request wants to be done. */
export interface ReadRequest {
  /** What was said before, where the client has the history and Rondo does not know it. */
  readonly history: readonly Said[];
  /** The newest messages of the user. */
  readonly content: readonly Block[];
  /** Results of calls by their ids. */
  readonly outputs: ReadonlyMap<string, CallerResult>;
  /** Decisions by the ids of the items that asked for them. */
  readonly approvals: ReadonlyMap<string, GivenApproval>;
  readonly instructions: string | undefined;
  /** The run of the newest item that Rondo gave out. */
  readonly knownRun: RunId | undefined;
  /** What a refusal of the content names. */
  readonly field: string;
}

export interface GivenApproval {
  readonly approve: boolean;
  readonly reason?: string | null | undefined;
}

type Block = { readonly type: 'text'; readonly text: string } | ImageBlock;
interface ImageBlock {
  readonly type: 'image';
  readonly source: { readonly type: 'base64'; readonly media_type: string; readonly data: string };
}

const contentPart = z.union([
  z.looseObject({ type: z.enum(['input_text', 'output_text', 'text']), text: z.string() }),
  z.looseObject({ type: z.literal('refusal'), refusal: z.string() }),
  z.looseObject({ type: z.literal('input_image'), image_url: z.string() }),
  z.looseObject({ type: z.literal('image_url'), image_url: z.looseObject({ url: z.string() }) }),
]);
const content = z.union([z.string(), z.array(z.unknown())]);

const messageItem = z.looseObject({
  type: z.literal('message').optional(),
  role: z.enum(['user', 'assistant', 'system', 'developer']),
  content,
});
const outputItem = z.looseObject({ type: z.literal('function_call_output'), call_id: z.string(), output: content });
const approvalItem = z.looseObject({
  type: z.literal('mcp_approval_response'),
  approval_request_id: z.string(),
  approve: z.boolean(),
  reason: z.string().nullish(),
});
/** Items of an output, which say nothing new. */
const shownItem = z.looseObject({
  type: z.enum(['reasoning', 'function_call', 'mcp_call', 'mcp_approval_request', 'item_reference']),
});

/** What the items of a request say. Throws InvalidRequest that names what is not served. */
export function readResponseRequest({ input, instructions }: OpenAiResponseRequest): ReadRequest {
  const items = typeof input === 'string' ? [{ role: 'user', content: input }] : (input ?? []);
  const known = items.findLastIndex((item) => findRunOfItem(item['id']) !== undefined);
  const reader = new HistoryReader();
  for (const [index, item] of items.entries())
    if (index > known || isInstruction(item)) reader.readItem(item, `input.${index}`);
  const read = reader.read(instructions ?? undefined);
  const [asked] = read.approvals.keys();
  return { ...read, knownRun: findRunOfItem(items[known]?.['id'] ?? asked), field: 'input' };
}

/** It holds for the next run, too, which begins with the settings of its own request. */
const isInstruction = ({ role }: Readonly<Record<string, unknown>>): boolean =>
  role === 'system' || role === 'developer';

/** The same of the messages of a chat. */
export function readChatRequest({ messages }: Pick<OpenAiChatRequest, 'messages'>): ReadRequest {
  const reader = new HistoryReader();
  for (const [index, message] of messages.entries()) reader.readMessage(message, `messages.${index}`);
  return { ...reader.read(undefined), knownRun: undefined, field: 'messages' };
}

/** What one item says. `field` is where its client has it. */
export function readItem(item: Readonly<Record<string, unknown>>, field: string): ReadRequest {
  const reader = new HistoryReader();
  reader.readItem(item, field);
  return { ...reader.read(undefined), knownRun: undefined, field };
}

class HistoryReader {
  private readonly history: Said[] = [];
  private readonly system: string[] = [];
  private content: Block[] = [];
  private outputs = new Map<string, CallerResult>();
  private approvals = new Map<string, GivenApproval>();

  read(instructions: string | undefined): Omit<ReadRequest, 'knownRun' | 'field'> {
    const { history, content: blocks, outputs, approvals } = this;
    const system = joinInstructions([instructions ?? '', ...this.system]);
    return { history, content: blocks, outputs, approvals, instructions: system };
  }

  readItem(item: Readonly<Record<string, unknown>>, field: string): void {
    const message = messageItem.safeParse(item).data;
    if (message) {
      this.say(message.role, message.content, `${field}.content`);
      return;
    }
    const approval = approvalItem.safeParse(item).data;
    if (approval) {
      this.approvals.set(approval.approval_request_id, approval);
      return;
    }
    const output = outputItem.safeParse(item).data;
    if (output) this.outputs.set(output.call_id, toResult(output.output, `${field}.output`));
    else if (!shownItem.safeParse(item).success)
      throw refuseField(field, `items of the type ${JSON.stringify(item['type'] ?? null)} are not served`);
    else if (item['type'] !== 'item_reference') this.endQuestion();
  }

  readMessage({ role, content: said, tool_call_id: callId }: OpenAiChatMessage, field: string): void {
    if (role !== 'tool') {
      this.say(role, said ?? '', `${field}.content`);
      return;
    }
    if (!callId) throw refuseField(`${field}.tool_call_id`, 'name the call');
    this.outputs.set(callId, toResult(said ?? '', `${field}.content`));
  }

  private say(role: z.infer<typeof messageItem>['role'], said: z.infer<typeof content>, field: string): void {
    if (role === 'user') this.content.push(...toBlocks(said, field));
    else if (role === 'assistant') this.addAnswer(toWords(said, field));
    else this.system.push(toWords(said, field));
  }

  /** What comes before an item of an output was said before. */
  private endQuestion(): void {
    const asked = toQuestion(this.content);
    if (asked.text !== '' || asked.images) this.history.push(asked);
    this.content = [];
  }

  /** What came before an answer is history, and so are the outputs of calls. */
  private addAnswer(text: string): void {
    this.endQuestion();
    if (text !== '') this.history.push({ role: 'assistant', text });
    this.outputs = new Map();
    this.approvals = new Map();
  }
}

function toBlocks(given: z.infer<typeof content>, field: string): Block[] {
  if (typeof given === 'string') return given === '' ? [] : [{ type: 'text', text: given }];
  return given.map((part, index) => toBlock(part, `${field}.${index}`));
}

function toBlock(given: unknown, field: string): Block {
  const { data: part } = contentPart.safeParse(given);
  if (!part)
    throw refuseField(field, 'only text, and images as data URLs, are served; upload other files with POST /v1/files');
  if (part.type === 'refusal') return { type: 'text', text: part.refusal };
  if (part.type !== 'input_image' && part.type !== 'image_url') return { type: 'text', text: part.text };
  const url = typeof part.image_url === 'string' ? part.image_url : part.image_url.url;
  const source = readDataUrl(url);
  if (!source) throw refuseField(`${field}.image_url`, 'must be a data URL');
  return { type: 'image', source: { type: 'base64', ...source } };
}

const toText = (blocks: readonly Block[]): string =>
  blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n\n');

const toResult = (given: z.infer<typeof content>, field: string): CallerResult =>
  readCallerResult(field, { blocks: toBlocks(given, field) });

/** What the output of a call says, as words of a user. */
export const toUserBlocks = ({ output, error, image }: CallerResult, heading = ''): Block[] => [
  { type: 'text', text: `${heading}${output ?? error ?? ''}` },
  ...(image ? [{ type: 'image' as const, source: toSource(image) }] : []),
];

const toSource = ({ media_type, data }: NonNullable<CallerResult['image']>): ImageBlock['source'] => ({
  type: 'base64',
  media_type,
  data,
});

/** Where an image could not be given to the model, it is refused. */
function toWords(given: z.infer<typeof content>, field: string): string {
  const blocks = toBlocks(given, field);
  const image = blocks.findIndex(({ type }) => type === 'image');
  if (image >= 0)
    throw refuseField(`${field}.${image}`, 'images are served in messages of the user, and in outputs of calls');
  return toText(blocks);
}

/** What a user says with these blocks. */
export function toQuestion(blocks: readonly Block[]): Said {
  const images = blocks.filter((block) => block.type === 'image');
  return { role: 'user', text: toText(blocks), ...(images.length > 0 && { images }) };
}

/** The input of a run. What Rondo does not know of the conversation comes before it, as a transcript. */
export function toInput({
  history,
  content: blocks,
  field,
}: Pick<ReadRequest, 'history' | 'content' | 'field'>): InputBlock[] {
  if (blocks.length === 0) throw refuseField(field, 'the newest message must be of the user');
  return readInput(field, history.length === 0 ? blocks : [...toTranscript(history), ...blocks]);
}

/** Its images follow it, under the numbers that it has for them. */
function toTranscript(history: readonly Said[]): Block[] {
  const all = history.flatMap(({ images = [] }) => images);
  const lines = history.map(({ role, text, images = [] }) => {
    const marks = images.map((image) => `[image ${all.indexOf(image) + 1}]`);
    return `${role === 'user' ? 'User' : 'Assistant'}: ${[text, ...marks].filter((part) => part !== '').join(' ')}`;
  });
  const next = all.length === 0 ? 'The newest message follows.' : 'Its images follow, and then the newest message.';
  return [{ type: 'text', text: `This conversation began elsewhere:\n\n${lines.join('\n\n')}\n\n${next}` }, ...all];
}

/** A declared function `ask` is how the client wants to be asked; the tool itself is Rondo's. */
export const asking = 'ask';

/** The settings of the run that a request begins. */
export function toResponseSettings({
  tools,
  text,
  reasoning,
  max_output_tokens: most,
  ...given
}: OpenAiResponseRequest): SettingsRequest {
  const format = text?.format;
  const { type, ...schema } = format ?? { type: 'text' };
  const asJson = type === 'json_schema' ? { type, json_schema: schema } : { type };
  const llm = { ...given, max_tokens: most, reasoning_effort: reasoning?.effort };
  const functions = tools?.filter((tool) => tool.type === 'function');
  const response_format = type === 'text' ? undefined : asJson;
  return toSettings({ ...llm, response_format }, functions);
}

export function toChatSettings({
  tools,
  reasoning_effort,
  response_format: format,
  ...given
}: OpenAiChatRequest): SettingsRequest {
  const max_tokens = given.max_completion_tokens ?? given.max_tokens;
  const response_format = format?.type === 'text' ? undefined : format;
  const functions = tools?.map(({ function: declared }) => declared);
  return toSettings({ ...given, max_tokens, reasoning_effort, response_format }, functions);
}

type GivenSettings = { readonly [Name in keyof LlmSettings]?: LlmSettings[Name] | null | undefined };

interface GivenFunction {
  readonly name: string;
  readonly description?: string | null | undefined;
  readonly parameters?: Readonly<Record<string, unknown>> | null | undefined;
}

function toSettings(
  { temperature, top_p, max_tokens, reasoning_effort, tool_choice, response_format }: GivenSettings,
  tools: readonly GivenFunction[] | null | undefined,
): SettingsRequest {
  const wanted = { temperature, top_p, max_tokens, reasoning_effort, tool_choice, response_format };
  const llm = Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== undefined && value !== null));
  const functions = (tools ?? []).filter(({ name }) => name !== asking).map(toCallerTool);
  return parseInput(settingsRequest, {
    ...(Object.keys(llm).length > 0 && { llm }),
    ...(functions.length > 0 && { caller_tools: functions }),
  });
}

/** Fields of a run under the names that they have in a response. */
export const toResponseFields = ({ instructions }: OpenAiResponseRequest): FieldNames => [
  [/^instructions$/, instructions ? 'instructions' : 'input'],
  [/^caller_tools\b/, 'tools'],
  [/^llm\.max_tokens$/, 'max_output_tokens'],
  [/^llm\.reasoning_effort\b/, 'reasoning.effort'],
  [/^llm\.response_format\b/, 'text.format'],
  [/^llm\./, ''],
];

/** The same in a chat. */
export const toChatFields = ({ max_completion_tokens: most }: OpenAiChatRequest): FieldNames => [
  [/^instructions$/, 'messages'],
  [/^caller_tools\.(\d+)/, 'tools.$1.function'],
  [/^caller_tools$/, 'tools'],
  [/^llm\.max_tokens$/, most == null ? 'max_tokens' : 'max_completion_tokens'],
  [/^llm\./, ''],
];

const toCallerTool = ({ name, description, parameters }: GivenFunction): object => ({
  name,
  description: description || name,
  ...(parameters && { parameters }),
});
