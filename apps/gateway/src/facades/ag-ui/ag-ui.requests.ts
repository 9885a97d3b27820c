import { type CallerResult, type InputBlock, type SettingsRequest, settingsRequest } from '@rondo/contract';
import type { AgUiMessage, AgUiResumeEntry, AgUiRunRequest } from '@rondo/contract/api';
import { z } from 'zod';
import { parseInput } from '../../http/parse-input';
import { refuseField } from '../../problems/api-error';
import { type FieldNames, joinInstructions, readCallerResult, readInput } from '../facade-input';
import { contextHeading } from './ag-ui.messages';

/** The newest message of a client: what its run is asked. */
export interface Question {
  /** The client's id of it. */
  readonly id: string;
  readonly input: InputBlock[];
}

/**
 * The messages of the user after the answer before, and after the one that the newest run began with, unless that is the newest of
 * all: then it is asked again. Undefined: there is none.
 */
export function readQuestion(
  { messages, context }: Pick<AgUiRunRequest, 'messages' | 'context'>,
  asked: string | undefined,
): Question | undefined {
  const last = messages.length - 1;
  const since = messages.findLastIndex(({ role, id }, index) => !isAside(role) || (id === asked && index < last));
  const found = [...messages.entries()].slice(since + 1).filter(([, { role }]) => role === 'user');
  const id = found.at(-1)?.[1].id;
  if (id === undefined) return undefined;
  const blocks = found.flatMap(([index, message]) => toBlocks(message, `messages.${index}.content`));
  const question = readInput('messages', blocks);
  const described = context?.map(({ description, value }) => `${description}: ${value}`) ?? [];
  if (described.length === 0) return { id, input: question };
  return {
    id,
    input: readInput('messages', [{ type: 'text', text: [contextHeading, ...described].join('\n') }, ...blocks]),
  };
}

/** Messages of these roles say nothing between two messages of the user. */
const isAside = (role: AgUiMessage['role']): boolean =>
  role === 'user' || role === 'system' || role === 'developer' || role === 'activity';

const textPart = z.looseObject({ type: z.literal('text'), text: z.string() });
const imagePart = z.looseObject({
  type: z.literal('image'),
  source: z.looseObject({ type: z.literal('data'), value: z.string(), mimeType: z.string() }),
});
/** Of clients before 1.0. */
const binaryPart = z.looseObject({
  type: z.literal('binary'),
  mimeType: z.string().startsWith('image/'),
  data: z.string(),
});

const content = z.union([z.string(), z.array(z.unknown())]);

function toBlocks(message: AgUiMessage, field: string): object[] {
  const { data: given } = content.safeParse(message['content']);
  if (given === undefined) throw refuseField(field, 'must be text, or parts');
  if (typeof given === 'string') return [{ type: 'text', text: given }];
  return given.map((part, index) => toBlock(part, `${field}.${index}`));
}

function toBlock(part: unknown, field: string): object {
  const text = textPart.safeParse(part).data;
  if (text) return { type: 'text', text: text.text };
  const image = imagePart.safeParse(part).data?.source;
  const binary = binaryPart.safeParse(part).data;
  const data = image?.value ?? binary?.data;
  if (data !== undefined)
    return { type: 'image', source: { type: 'base64', media_type: image?.mimeType ?? binary?.mimeType, data } };
  throw refuseField(field, 'only text, and images as data, are served; upload other files with POST /v1/files');
}

const toolMessage = z.looseObject({ toolCallId: z.string(), content, error: z.string().optional() });

/** Results of the client's tools by the ids of their calls. */
export function readResults(messages: readonly AgUiMessage[]): ReadonlyMap<string, CallerResult> {
  const results = messages.flatMap((message, index) => {
    if (message.role !== 'tool') return [];
    const { data } = toolMessage.safeParse(message);
    if (!data) throw refuseField(`messages.${index}`, 'a tool message has a toolCallId and a content');
    const field = `messages.${index}.content`;
    const blocks = toBlocks(message, field);
    return [[data.toolCallId, data.error ? { error: data.error } : readCallerResult(field, { blocks })] as const];
  });
  return new Map(results);
}

/** The settings that the request has for its run. */
export function toSettings({ tools, forwardedProps }: AgUiRunRequest): SettingsRequest {
  const callerTools = (tools ?? []).map(({ name, description, parameters }) => ({
    name,
    description: description || name,
    ...(parameters && { parameters }),
  }));
  const given = {
    ...(callerTools.length > 0 && { caller_tools: callerTools }),
    ...(forwardedProps?.model !== undefined && { model: forwardedProps.model }),
  };
  return parseInput(settingsRequest, given);
}

/** What the system and developer messages say. Undefined where they say nothing. */
export function readInstructions({ messages }: Pick<AgUiRunRequest, 'messages'>): string | undefined {
  const texts = messages.flatMap(({ role, content: text }, index) => {
    if (role !== 'system' && role !== 'developer') return [];
    if (typeof text !== 'string') throw refuseField(`messages.${index}.content`, 'must be text');
    return [text];
  });
  return joinInstructions(texts);
}

export const fieldNames: FieldNames = [
  [/^instructions$/, 'messages'],
  [/^caller_tools\b/, 'tools'],
];

const decision = z.union([
  z.boolean().transform((approved) => ({ approved, reason: undefined, arguments: undefined })),
  z.strictObject({
    approved: z.boolean(),
    reason: z.string().optional(),
    arguments: z.record(z.string(), z.unknown()).optional(),
  }),
]);

export type Decision = z.infer<typeof decision>;

/** What an entry decides about an approval. A cancelled one denies. */
export function readDecision({ status, payload }: AgUiResumeEntry, field: string): Decision {
  if (status === 'cancelled') return { approved: false, reason: 'cancelled by the user', arguments: undefined };
  const { data } = decision.safeParse(payload);
  if (!data)
    throw refuseField(`${field}.payload`, 'must be {"approved": true or false}, with a reason or other arguments');
  return data;
}

/** What an entry answers to a question. */
export function readAnswer({ status, payload }: AgUiResumeEntry): string {
  if (status === 'cancelled') return 'The user dismissed the question without an answer.';
  if (typeof payload === 'string') return payload;
  return JSON.stringify(payload ?? null);
}
