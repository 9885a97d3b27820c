import {
  type CallId,
  type ContentBlock,
  type Message,
  type MessageId,
  type RecordedResult,
  type ToolCallBlock,
  type ToolResultBlock,
  type UserBlock,
  toFailedResult,
  isLaterPart,
} from '@rondo/contract';
import { documentsIn } from '../files/message-documents';
import { memoizeGrowingList, memoize } from '../memoize';
import type { AssistantBlock, ModelMessage, ModelToolResult } from '../models/model';
import { wellFormed, wellFormedText } from '../well-formed';
import { isTemporary } from './temporary-message';

/**
 * Turns a conversation into a valid request for any provider (I6): it begins with `user`, every call is followed by
 * exactly one result in the order of the calls, every result has its call, and nothing is empty.
 *
 * The log keeps calls and results together, so this usually changes nothing. It repairs a thread that a user wrote into
 * between a call and its answer, or whose run ended without the answer. A reply that was stored in parts is one reply
 * again: providers want its thoughts before all of its calls, and a model that made two calls at once shall see that it did.
 *
 * A conversation that extends the previous one costs only what was added, and its earlier turns are the same objects.
 */
export const pairCalls = (conversation: readonly Message[]): ModelMessage[] => toPairing(conversation).turns();

/** The same without the user turn that a request needs at its end, which is to be written. */
export const pairTurns = (conversation: readonly Message[]): ModelMessage[] => new Pairing().add(conversation).write();

const toPairing = memoizeGrowingList<Message, Pairing>((pairing = new Pairing(), added) => pairing.add(added));

/** A user turn for the places where providers require one: at the start, between two replies, and at the end. */
export const continuation = (): ModelMessage => ({
  role: 'user',
  content: [{ type: 'text', text: '(The conversation continues.)' }],
});

/** Turns, and where the newest reply is among them. */
interface WrittenTurns {
  readonly turns: ModelMessage[];
  reply?: { readonly id: MessageId; readonly at: number };
}

/**
 * Builds turns incrementally. Turns before the first unanswered call are settled: later messages cannot change them, except
 * for the next part of the newest reply, before whose end no request is made.
 */
class Pairing {
  private readonly results = new Map<CallId, ToolResultBlock>();
  private readonly settled: WrittenTurns = { turns: [] };
  private open: readonly Message[] = [];

  add(added: readonly Message[]): this {
    for (const { content } of added) content.forEach((block) => this.keepResult(block));
    const open = [...this.open, ...added];
    const unanswered = open.findIndex((message) => this.isUnanswered(message));
    const settles = unanswered < 0 ? open.length : unanswered;
    for (const message of open.slice(0, settles)) this.pushTo(this.settled, message);
    this.open = open.slice(settles);
    return this;
  }

  write(): ModelMessage[] {
    const written = { ...this.settled, turns: [...this.settled.turns] };
    for (const message of this.open) this.pushTo(written, message);
    return written.turns;
  }

  turns(): ModelMessage[] {
    const turns = this.write();
    return needsUserTurn(turns) ? [...turns, continuation()] : turns;
  }

  private keepResult(block: ContentBlock): void {
    if (block.type !== 'tool_result' || this.results.has(block.tool_call_id)) return;
    this.results.set(block.tool_call_id, block);
  }

  private isUnanswered(message: Message): boolean {
    return message.type === 'assistant' && !!findReply(message)?.calls.some((id) => !this.results.has(id));
  }

  private pushTo(written: WrittenTurns, message: Message): void {
    if (message.type === 'assistant') this.pushReply(written, message);
    else if (message.type !== 'tool') pushUserTurn(written.turns, message);
  }

  private pushReply(written: WrittenTurns, message: Message): void {
    const { turns, reply: earlier } = written;
    const reply = findReply(message);
    if (!reply) return;
    const results = reply.calls.map((id) => this.answerTo(id));
    if (earlier && isLaterPart(message.id, earlier.id)) {
      extendReply(turns, earlier.at, { ...reply.message, results });
      return;
    }
    if (needsUserTurn(turns)) turns.push(continuation());
    written.reply = { id: message.id, at: turns.length };
    turns.push(reply.message);
    if (results.length > 0) turns.push({ role: 'tool', results });
  }

  private answerTo(id: CallId): ModelToolResult {
    const block = this.results.get(id);
    return block ? toAnswer(block) : toModelResult(id, lostResult);
  }
}

interface ReplyPart {
  readonly content: readonly AssistantBlock[];
  readonly results: readonly ModelToolResult[];
}

/** Adds the next part of a reply to it, and the results of its calls to those of the calls before. */
function extendReply(turns: ModelMessage[], at: number, { content, results }: ReplyPart): void {
  const [earlier, answered] = turns.slice(at);
  if (earlier?.role !== 'assistant') return;
  turns[at] = { role: 'assistant', content: [...earlier.content, ...content] };
  if (answered?.role === 'tool') turns[at + 1] = { role: 'tool', results: [...answered.results, ...results] };
  else if (results.length > 0) turns.splice(at + 1, 0, { role: 'tool', results });
}

export const needsUserTurn = (turns: readonly ModelMessage[]): boolean =>
  (turns.at(-1)?.role ?? 'assistant') === 'assistant';

/** A reply and its calls; undefined if it has neither text nor calls. */
const findReply = memoize((message: Message) => {
  const content = message.content.flatMap(assistantBlock);
  if (content.every(({ type }) => type === 'reasoning')) return undefined;

  const calls = content.flatMap((block) => (block.type === 'tool_call' ? [block.id] : []));
  return { message: { role: 'assistant', content } satisfies ModelMessage, calls };
});

function assistantBlock(block: ContentBlock): AssistantBlock[] {
  switch (block.type) {
    case 'text':
      return block.text.trim() === '' ? [] : [wellFormed(block)];
    case 'reasoning':
      return [wellFormed(block)];
    case 'tool_call':
      return [toCall(wellFormed(block))];
    case 'image':
    case 'tool_result':
      return [];
  }
}

const toCall = ({ tool_call_id: id, name, arguments: input, opaque }: ToolCallBlock): AssistantBlock => ({
  type: 'tool_call',
  id,
  name,
  arguments: input,
  ...(opaque && { opaque }),
});

const toAnswer = memoize(({ tool_call_id, result }: ToolResultBlock) => toModelResult(tool_call_id, result));

const lostResult = toFailedResult('No result was recorded for this call. It may or may not have taken effect.');

/** A result as the model receives it: the output, and the error if there is one. Never empty. */
export function toModelResult(id: CallId, result: RecordedResult): ModelToolResult {
  const text = [result.output, result.error ? `Error: ${result.error}` : ''].filter((part) => part !== '').join('\n');
  return {
    tool_call_id: id,
    text: text.trim() === '' ? '(no output)' : wellFormedText(text),
    is_error: !result.success,
    ...(result.image && { image: { type: 'blob', ...result.image } }),
  };
}

/** Merges consecutive user messages, because some providers require that roles alternate. */
function pushUserTurn(messages: ModelMessage[], message: Message): void {
  const turn = toUserTurn(message);
  if (turn.content.length === 0) return;

  const last = messages.at(-1);
  if (last?.role === 'user') messages[messages.length - 1] = joinUserTurns(last, turn);
  else messages.push(turn);
}

type UserTurn = Extract<ModelMessage, { role: 'user' }>;

/** What is temporary stands at the end of a conversation, so it is at the end of the joined turn. */
export function joinUserTurns(first: UserTurn, second: UserTurn): UserTurn {
  const temporary = (first.temporary ?? 0) + (second.temporary ?? 0);
  return { role: 'user', content: [...first.content, ...second.content], ...(temporary > 0 && { temporary }) };
}

/** Documents come first, as their makers advise. */
const toUserTurn = memoize((message: Message): UserTurn => {
  const content = [...documentsIn(message), ...message.content.filter(isUserBlock).map(wellFormed)];
  return { role: 'user', content, ...(isTemporary(message) && { temporary: content.length }) };
});

const isUserBlock = (block: ContentBlock): block is UserBlock =>
  block.type === 'image' || (block.type === 'text' && block.text.trim() !== '');
