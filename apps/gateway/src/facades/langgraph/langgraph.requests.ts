import { createHash } from 'node:crypto';
import {
  type CallerResult,
  type InputBlock,
  type SettingsRequest,
  type Waiting,
  inputContent,
  jsonText,
} from '@rondo/contract';
import type { LangGraphRunRequest } from '@rondo/contract/api';
import { z } from 'zod';
import { parseInput } from '../../http/parse-input';
import { refuseField } from '../../problems/api-error';
import { type FieldNames, joinInstructions, readCallerResult, readDataUrl, readInput } from '../facade-input';
import type { InputName } from './langgraph.messages';

/** Keys of the metadata of a run that are the façade's own. */
export const ownKeys = { messages: 'langgraph_messages', assistant: 'langgraph_assistant' } as const;

const own: ReadonlySet<string> = new Set(Object.values(ownKeys));

/** What a client stored with a run. */
export const toShownMetadata = (metadata: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(metadata).filter(([key]) => !own.has(key)));

/** A message of the user. */
interface GivenMessage {
  /** The id that the client chose. */
  readonly name: string | null;
  readonly blocks: readonly object[];
}

/** What the messages of a request say. */
export interface ReadInput {
  readonly messages: readonly GivenMessage[];
  /** By the ids of the calls. */
  readonly results: ReadonlyMap<string, CallerResult>;
  /** Replies of the model by their ids: what a client sends back of the state. */
  readonly replies: readonly (string | null)[];
  /** What messages of the system say. */
  readonly instructions: string | undefined;
}

const nullish = z.unknown().optional();
const givenMessage = z
  .looseObject({
    type: z.string().optional(),
    role: z.string().optional(),
    id: z.string().min(1).max(200).nullish(),
    content: nullish,
    tool_call_id: z.string().nullish(),
    status: z.string().nullish(),
  })
  .or(z.string());
const givenValues = z.object({ messages: z.union([z.array(givenMessage), givenMessage]).optional() }).nullish();

const kinds: Readonly<Record<string, 'human' | 'tool' | 'ai' | 'system'>> = {
  human: 'human',
  user: 'human',
  tool: 'tool',
  ai: 'ai',
  assistant: 'ai',
  system: 'system',
  developer: 'system',
};

/** The forms of messages that LangChain takes. Throws InvalidRequest that names the message which is not served. */
export function readMessages(given: unknown, within: 'input' | 'values' = 'input'): ReadInput {
  const { messages = [] } = parseInput(z.object({ [within]: givenValues }), { [within]: given })[within] ?? {};
  const read: { messages: GivenMessage[]; results: Map<string, CallerResult>; replies: (string | null)[] } = {
    messages: [],
    results: new Map(),
    replies: [],
  };
  const system: string[] = [];
  for (const [index, message] of [messages].flat().entries()) {
    const field = `${within}.messages.${index}`;
    if (typeof message === 'string') {
      read.messages.push({ name: null, blocks: [{ type: 'text', text: message }] });
      continue;
    }
    const { id: name = null, content, tool_call_id: callId } = message;
    const type = message.type ?? message.role ?? '';
    const kind = kinds[type];
    if (kind === undefined) throw refuseField(field, `messages of the type ${JSON.stringify(type)} are not served`);
    if (kind === 'system') system.push(toInstruction(content, `${field}.content`));
    else if (kind === 'ai') read.replies.push(name);
    else if (kind === 'human') read.messages.push({ name, blocks: toBlocks(content, field) });
    else if (callId) read.results.set(callId, readResult(message, `${field}.content`));
    else throw refuseField(`${field}.tool_call_id`, 'a result names its call');
  }
  return { ...read, instructions: joinInstructions(system) };
}

const textPart = z.object({ type: z.literal('text'), text: z.string() });
const imagePart = z.object({
  type: z.literal('image_url'),
  image_url: z.union([z.string(), z.object({ url: z.string() }).transform(({ url }) => url)]),
});
const dataPart = z.union([
  z
    .object({ type: z.literal('image'), source_type: z.literal('base64'), mime_type: z.string(), data: z.string() })
    .transform(({ mime_type: type, data }) => ({ media_type: type, data })),
  z
    .object({ type: z.literal('image'), mimeType: z.string(), data: z.string() })
    .transform(({ mimeType, data }) => ({ media_type: mimeType, data })),
]);

function toBlocks(content: unknown, field: string): object[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  if (!Array.isArray(content)) throw refuseField(`${field}.content`, 'must be text, or a list of parts');
  return content.map((part, index) => toBlock(part, `${field}.content.${index}`));
}

function toInstruction(content: unknown, field: string): string {
  const texts = readTexts(content);
  if (!texts) throw refuseField(field, 'a system message has only text');
  return texts.join('');
}

/** Undefined for a content that is not text alone. */
function readTexts(content: unknown): readonly string[] | undefined {
  const texts = [content]
    .flat()
    .flatMap((part) => (typeof part === 'string' ? part : (textPart.safeParse(part).data?.text ?? [])));
  return texts.length === [content].flat().length ? texts : undefined;
}

function toBlock(part: unknown, field: string): object {
  const block = findBlock(part);
  if (block) return block;
  throw refuseField(field, 'only text and images are served; upload other files with POST /v1/files');
}

/** Undefined for what is neither text nor an image. */
function findBlock(part: unknown): object | undefined {
  const text = typeof part === 'string' ? { text: part } : textPart.safeParse(part).data;
  if (text) return { type: 'text', text: text.text };
  const data = dataPart.safeParse(part).data;
  if (data) return { type: 'image', source: { type: 'base64', ...data } };
  const url = imagePart.safeParse(part).data?.image_url;
  if (url === undefined) return undefined;
  const source = readDataUrl(url);
  return { type: 'image', source: source ? { type: 'base64', ...source } : { type: 'url', url } };
}

/** What is no list of text and images is written as JSON. */
function readResult({ content, status }: { content?: unknown; status?: unknown }, field: string): CallerResult {
  const blocks = [content].flat().map(findBlock);
  if (!blocks.every((block) => block !== undefined)) return toResult(content, status);
  return readCallerResult(field, { blocks, isError: status === 'error' });
}

function toResult(content: unknown, status: unknown): CallerResult {
  const text = typeof content === 'string' ? content : JSON.stringify(content ?? '');
  return status === 'error' ? { error: text || 'The call failed.' } : { output: text };
}

/** The input of a run. */
export const toInput = (messages: readonly GivenMessage[], field = 'input.messages'): InputBlock[] =>
  readInput(
    field,
    messages.flatMap(({ blocks }) => blocks),
  );

const storedNames = jsonText.pipe(z.array(z.tuple([z.string().nullable(), z.number()])));

/** The metadata of a run that says which messages its input was. None for messages without names. */
export function writeNames(messages: readonly GivenMessage[]): Record<string, string> {
  if (messages.length < 2 && messages.every(({ name }) => name === null)) return {};
  const names: readonly InputName[] = messages.map(({ name, blocks }) => [name, blocks.length]);
  return { [ownKeys.messages]: JSON.stringify(names) };
}

/** Undefined for metadata that the façade has not written. */
export const readNames = (metadata: Readonly<Record<string, string>>): readonly InputName[] | undefined =>
  storedNames.safeParse(metadata[ownKeys.messages]).data;

/**
 * One POST of a client however often it is sent. With another body, for example with another model after a failure, the same
 * messages are another one. Undefined for messages without ids.
 */
export function toKey(threadName: string, messages: readonly GivenMessage[], body: object): string | undefined {
  const names = messages.map(({ name }) => name);
  if (names.length === 0 || names.includes(null)) return undefined;
  return `langgraph:${createHash('sha256')
    .update(JSON.stringify([threadName, names, body]))
    .digest('hex')}`;
}

/** LangGraph counts the steps of a graph, of which an iteration has two: the model, and its tools. */
const stepsPerIteration = 2;
const mostIterations = 500;

/** What a request changes in the settings of its agent. */
export function toSettings({ config, context }: Pick<LangGraphRunRequest, 'config' | 'context'>): SettingsRequest {
  const model = config?.configurable?.model ?? context?.model ?? undefined;
  const steps = config?.recursion_limit ?? undefined;
  return {
    ...(model !== undefined && { model }),
    ...(steps !== undefined && {
      limits: { max_iterations: Math.min(mostIterations, Math.ceil(steps / stepsPerIteration)) },
    }),
  };
}

export const fieldNames: FieldNames = [[/^instructions$/, 'input.messages']];

export type ReadDecision = { readonly reason?: string } & (
  | { readonly decision: 'approve' | 'deny' }
  | { readonly decision: 'edit'; readonly arguments: Readonly<Record<string, unknown>> }
);

const args = z.record(z.string(), z.unknown());
const action = z.looseObject({ args });
const givenDecision = z.looseObject({
  type: z.string(),
  message: z.string().nullish(),
  args: z.unknown().optional(),
  edited_action: action.nullish(),
  editedAction: action.nullish(),
});
const decisionList = z.looseObject({ decisions: z.array(z.unknown()) });

const approving: ReadonlySet<string> = new Set(['approve', 'approved', 'accept', 'yes', 'true']);
const denying: ReadonlySet<string> = new Set([
  'reject',
  'rejected',
  'deny',
  'denied',
  'ignore',
  'response',
  'no',
  'false',
]);

/**
 * Decisions about calls, in their order: those of LangChain's human-in-the-loop middleware and of the agent inbox, or one word for
 * all. Throws InvalidRequest where there are not as many as calls.
 */
export function readDecisions(resume: unknown, calls: number): ReadDecision[] {
  const listed = decisionList.safeParse(resume).data?.decisions ?? (Array.isArray(resume) ? resume : undefined);
  if (listed === undefined) return Array.from({ length: calls }, () => readDecision(resume));
  if (listed.length !== calls)
    throw refuseField('command.resume', `${calls} calls wait for a decision, and there are ${listed.length}`);
  return listed.map(readDecision);
}

function readDecision(given: unknown): ReadDecision {
  const word = typeof given === 'string' || typeof given === 'boolean' ? String(given).toLowerCase() : undefined;
  const said = word === undefined ? givenDecision.safeParse(given).data : { type: word };
  const { type = '', message, edited_action: snake, editedAction: camel, args: given_args } = said ?? {};
  const inbox = action.safeParse(given_args).data;
  const edited = camel ?? snake ?? inbox;
  const reason = message ?? (typeof given_args === 'string' ? given_args : undefined);
  if (type === 'edit' && edited) return { decision: 'edit', arguments: edited.args };
  if (approving.has(type)) return { decision: 'approve' };
  if (denying.has(type)) return { decision: 'deny', ...(reason !== undefined && { reason }) };
  throw refuseField(
    'command.resume',
    'must be a decision: {"decisions": [{"type": "approve" | "edit" | "reject", …}]}',
  );
}

/** The answer to one of the ids, where a client gives answers by their ids; else the whole of it. */
export function findAnswer(resume: unknown, ids: readonly string[]): unknown {
  const byId = args.safeParse(resume).data;
  const known = byId && ids.find((id) => Object.hasOwn(byId, id));
  return byId && known !== undefined ? byId[known] : resume;
}

/** The answer to a question, in words. */
export function toWords(answer: unknown): InputBlock[] {
  const text = typeof answer === 'string' ? answer : JSON.stringify(answer ?? null);
  return parseInput(z.object({ 'command.resume': inputContent }), { 'command.resume': text })['command.resume'];
}

const failed = z.strictObject({ error: z.string().min(1) });

/** A result for each call that waits for one. Throws InvalidRequest that names the first one without. */
export function readResults(resume: unknown, calls: NonNullable<Waiting['tool_calls']>): Map<string, CallerResult> {
  const byId = args.safeParse(resume).data;
  return new Map(
    calls.map(({ tool_call_id: id }) => {
      const isNamed = byId !== undefined && Object.hasOwn(byId, id);
      if (!isNamed && calls.length > 1)
        throw refuseField('command.resume', `${id} has no result: give all by their ids`);
      const value = isNamed ? byId[id] : resume;
      const error = failed.safeParse(value).data?.error;
      return [id, error === undefined ? toResult(value, undefined) : { error }];
    }),
  );
}
