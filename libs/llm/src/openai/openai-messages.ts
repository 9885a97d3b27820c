import { createHash } from 'node:crypto';
import type { CallId, Opaque } from '@rondo/contract';
import {
  type ModelMessage,
  type ModelToolResult,
  type ShownBlock,
  type ShownDocument,
  type ShownImage,
  memoizeGrowingList,
} from '@rondo/domain';
import type OpenAI from 'openai';
import { z } from 'zod';
import { type ConversationRules, toDocument } from '../providers/conversation-rules';
import type { ProviderProfile } from '../providers/provider-profile';
import { lostImage, unloadedImage, unseenImage, wireToolName } from '../wire-protocol';

type Message = OpenAI.ChatCompletionMessageParam;
type Turn<Role extends ModelMessage['role']> = Extract<ModelMessage, { role: Role }>;
type Part =
  OpenAI.ChatCompletionContentPartText | OpenAI.ChatCompletionContentPartImage | OpenAI.ChatCompletionContentPart.File;

/** Whom the conversation is for: what a model gave goes back to it alone. */
export interface Recipient {
  readonly maker: string;
  readonly profile: ProviderProfile & ConversationRules;
}

/** Turns are remembered for each model, and for each way in which its server wants them. */
export type ToTurns = (conversation: readonly ModelMessage[]) => Turns;

/** The conversation in OpenAI's shape. */
export function toOpenAiMessages(system: string, conversation: readonly ModelMessage[], toTurns: ToTurns): Message[] {
  const { messages, images } = toTurns(conversation);
  return [...(system.trim() === '' ? [] : [{ role: 'system', content: system } as const]), ...messages, ...images];
}

/** The messages so far, and those that show images of tool results if no user message does. */
interface Turns {
  readonly messages: Message[];
  readonly images: readonly Message[];
}

export const createTurns = (recipient: Recipient): ToTurns =>
  memoizeGrowingList<ModelMessage, Turns & Pick<Adding, 'parts' | 'ids'>>(
    (turns = { messages: [], images: [], parts: [], ids: new Map() }, more) => {
      const { messages } = turns;
      let { parts, ids } = turns;
      for (const message of more) {
        add(messages, message, { parts, ids, recipient });
        if (message.role === 'assistant') ids = listGivenIds(message, recipient);
        parts = message.role === 'tool' ? message.results.flatMap((result) => listImages(result, recipient)) : [];
      }
      return { messages, parts, ids, images: parts.length > 0 ? userTurn(messages, parts, recipient) : [] };
    },
  );

interface Adding {
  readonly parts: readonly Part[];
  readonly ids: ReadonlyMap<CallId, string>;
  readonly recipient: Recipient;
}

function add(messages: Message[], message: ModelMessage, { parts, ids, recipient }: Adding): void {
  switch (message.role) {
    case 'user':
      messages.push(
        ...userTurn(messages, [...parts, ...message.content.map((block) => toPart(block, recipient))], recipient),
      );
      break;
    case 'assistant':
      if (parts.length > 0) messages.push(...userTurn(messages, parts, recipient));
      messages.push(assistantMessage(message, recipient));
      break;
    case 'tool':
      messages.push(...message.results.map((result) => toolMessage(result, ids)));
  }
}

/** Some servers want a reply between the result of a tool and the next word of the user. */
const userTurn = (before: readonly Message[], parts: readonly Part[], { profile }: Recipient): Message[] =>
  profile.noUserAfterTool && before.at(-1)?.role === 'tool'
    ? [{ role: 'assistant', content: '(The result was received.)' }, userMessage(parts)]
    : [userMessage(parts)];

function userMessage(parts: readonly Part[]): Message {
  const filled = parts.filter((part) => part.type !== 'text' || part.text.trim() !== '');
  const texts = filled.filter((part) => part.type === 'text');
  if (texts.length < filled.length) return { role: 'user', content: filled };
  return { role: 'user', content: texts.map(({ text }) => text).join('\n\n') || '(empty message)' };
}

function toPart(block: ShownBlock, recipient: Recipient): Part {
  switch (block.type) {
    case 'text':
      return block;
    case 'image':
      return imagePart(block.source, recipient);
    case 'document':
      return documentPart(block, recipient);
  }
}

function documentPart(document: ShownDocument, { profile }: Recipient): Part {
  const sent = toDocument(document, profile);
  if (typeof sent === 'string') return { type: 'text', text: sent };
  const url = `data:application/pdf;base64,${sent.data}`;
  return sent.form === 'image'
    ? { type: 'image_url', image_url: { url } }
    : { type: 'file', file: { filename: sent.name, file_data: url } };
}

function imagePart(source: ShownImage, { profile }: Recipient): Part {
  if (profile.textOnly) return { type: 'text', text: unseenImage };
  switch (source.type) {
    case 'base64':
      return { type: 'image_url', image_url: { url: `data:${source.media_type};base64,${source.data}` } };
    case 'url':
      return { type: 'text', text: unloadedImage };
    case 'blob':
      return { type: 'text', text: lostImage };
  }
}

/** Beside calls, `content` is there and null: some servers demand the key. */
function assistantMessage({ content }: Turn<'assistant'>, recipient: Recipient): Message {
  const text = content
    .filter((block) => block.type === 'text')
    .map((block) => block.text)
    .join('');
  const calls = content
    .filter((block) => block.type === 'tool_call')
    .map((call, at): OpenAI.ChatCompletionMessageFunctionToolCall => {
      const { function: inFunction, ...signature } = toSignature(call.opaque, at, recipient);
      return {
        id: wireCallId(call.id),
        type: 'function',
        function: { name: wireToolName(call.name), arguments: JSON.stringify(call.arguments), ...inFunction },
        ...signature,
      };
    });
  if (calls.length === 0) return { role: 'assistant', content: text.trim() === '' ? '(no reply)' : text };
  return {
    role: 'assistant',
    content: text.trim() === '' ? null : text,
    ...toReasoning(content, recipient),
    tool_calls: calls,
  };
}

/** The names of the field for reasoning. */
export const reasoningFields = ['reasoning_content', 'reasoning', 'reasoning_text'] as const;
export type ReasoningField = (typeof reasoningFields)[number];

const details = z.array(z.record(z.string(), z.unknown()));

/** What a reply had beside its text, as its reader kept it. `opaque` is Copilot's. */
const givenReasoning = z.union([
  z.strictObject({
    field: z.enum(reasoningFields),
    signature: z.string().optional(),
    opaque: z.string().optional(),
    details: details.optional(),
  }),
  z.strictObject({ details }),
]);
export type GivenReasoning = z.infer<typeof givenReasoning>;

/** The reasoning that led to the calls, in the field where its model expects it. */
function toReasoning(content: Turn<'assistant'>['content'], { maker, profile }: Recipient): object {
  const own = content.filter((block) => block.type === 'reasoning' && block.opaque?.maker === maker);
  const text = own.map((block) => (block.type === 'reasoning' ? block.text : '')).join('');
  const given = own.flatMap((block) => {
    const read = block.type === 'reasoning' ? givenReasoning.safeParse(block.opaque?.data) : undefined;
    return read?.success ? [read.data] : [];
  });
  const received = given.flatMap((one) => ('field' in one ? [one] : []));
  const opaque = received.map((one) => one.opaque ?? '').join('');
  if (opaque !== '') return { ...(text !== '' && { reasoning_text: text }), reasoning_opaque: opaque };
  switch (profile.reasoning ?? 'as_received') {
    case 'always':
      return { reasoning_content: text };
    case 'details':
      return toDetails(given);
    case 'as_received': {
      const [first] = received;
      return first ? { [first.field]: text, ...toThinkingBlocks(text, first.signature), ...toDetails(received) } : {};
    }
    case 'signatures':
      return toDetails(received);
    case 'none':
      return {};
  }
}

function toDetails(given: readonly GivenReasoning[]): { readonly reasoning_details?: readonly object[] } {
  const all = given.flatMap((one) => one.details ?? []);
  return all.length > 0 ? { reasoning_details: all } : {};
}

/** LiteLLM passes them on to Claude, which wants its signed thinking back. */
const toThinkingBlocks = (thinking: string, signature: string | undefined): object =>
  signature ? { thinking_blocks: [{ type: 'thinking', thinking, signature }] } : {};

/** What a call has beside the usual. An id is in the place of ours, and so it is in the result of the call. */
interface Signature {
  readonly id?: string;
  readonly function?: object;
  readonly extra_content?: object;
}

/** Gemini 3 accepts this in place of the signature of a call that it did not make. It wants one on the first call of a reply. */
const foreignSignature = { extra_content: { google: { thought_signature: 'skip_thought_signature_validator' } } };

function toSignature(opaque: Opaque | undefined, at: number, { maker, profile }: Recipient): Signature {
  if (opaque && opaque.maker === maker) return opaque.data ?? {}; // as the reader kept it
  const isDemanded = profile.reasoning === 'signatures' && at === 0 && !/gemini-[12]/.test(maker);
  return isDemanded ? foreignSignature : {};
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** Nine letters or digits, as the strictest server demands; the same for the same call, so that prompt caches hit. */
const wireCallId = (id: CallId): string =>
  Array.from(createHash('sha256').update(id).digest().subarray(0, 9), (byte) => alphabet[byte % alphabet.length]).join(
    '',
  );

/** The results of a reply's calls, which have ids as that reply has them now. */
const toolMessage = ({ tool_call_id, text, is_error }: ModelToolResult, ids: ReadonlyMap<CallId, string>): Message => ({
  role: 'tool',
  tool_call_id: ids.get(tool_call_id) ?? wireCallId(tool_call_id),
  content: text.trim() === '' ? (is_error ? '(failed without output)' : '(no output)') : text,
});

/** The ids of the calls of a reply that go back as they came. */
const listGivenIds = ({ content }: Turn<'assistant'>, { maker }: Recipient): ReadonlyMap<CallId, string> =>
  new Map(
    content.flatMap((block): [CallId, string][] => {
      const opaque = block.type === 'tool_call' ? block.opaque : undefined;
      const { id } = (opaque?.maker === maker ? (opaque.data ?? {}) : {}) as Signature;
      return block.type === 'tool_call' && id !== undefined ? [[block.id, id]] : [];
    }),
  );

/** A tool message accepts text only, so its images follow in a user message. */
function listImages({ tool_call_id, image }: ModelToolResult, recipient: Recipient): Part[] {
  return image ? [{ type: 'text', text: `Image from ${wireCallId(tool_call_id)}:` }, imagePart(image, recipient)] : [];
}
