import { memoizeGrowingList } from '../memoize/memoize-growing-list';
import {
  type CallId,
  type ContentBlock,
  type Message,
  type RecordedResult,
  type ToolResultBlock,
  type UserBlock,
  failedResult,
} from '@rondo/contract';
import type { AssistantBlock, ModelMessage, ModelToolResult } from '../models/model';
import { memoize } from '../memoize/memoize';

/**
 * Turns a conversation into what any provider accepts (I6): it begins with `user`, every call has exactly one result
 * right after it in the order of the calls, no result stands without its call, and nothing is empty.
 *
 * The log keeps pairs whole, so this changes nothing in a healthy thread. It is the last guard for a thread that a
 * user wrote into between a call and its answer, or whose run died before the answer (R29).
 *
 * A conversation that goes on from the one before costs what is new in it, and its turns are the same again, object for object.
 */
export const pairCalls = (conversation: readonly Message[]): ModelMessage[] => pairing(conversation).turns();

const pairing = memoizeGrowingList<Message, Pairing>((before = new Pairing(), more) => before.add(more));

/** A user turn where a provider wants one and nobody said anything: first, between two replies, and last. */
export const continuation = (): ModelMessage => ({
  role: 'user',
  content: [{ type: 'text', text: '(The conversation continues.)' }],
});

/** A conversation's turns. What nothing that follows can change is settled; from the first unanswered call on, all is open. */
class Pairing {
  private readonly results = new Map<CallId, ToolResultBlock>();
  private readonly settled: ModelMessage[] = [];
  private open: readonly Message[] = [];

  add(more: readonly Message[]): this {
    for (const { content } of more) content.forEach((block) => this.keepResult(block));
    const open = [...this.open, ...more];
    const unanswered = open.findIndex((message) => this.isUnanswered(message));
    const settles = unanswered < 0 ? open.length : unanswered;
    for (const message of open.slice(0, settles)) this.pushTo(this.settled, message);
    this.open = open.slice(settles);
    return this;
  }

  turns(): ModelMessage[] {
    const turns = [...this.settled];
    for (const message of this.open) this.pushTo(turns, message);
    return wantsUser(turns) ? [...turns, continuation()] : turns;
  }

  private keepResult(block: ContentBlock): void {
    if (block.type !== 'tool_result' || this.results.has(block.tool_call_id)) return;
    this.results.set(block.tool_call_id, block);
  }

  private isUnanswered(message: Message): boolean {
    return message.type === 'assistant' && !!replyOf(message)?.calls.some((id) => !this.results.has(id));
  }

  private pushTo(turns: ModelMessage[], message: Message): void {
    if (message.type === 'assistant') this.pushReply(turns, message);
    else if (message.type !== 'tool') pushUserTurn(turns, message);
  }

  private pushReply(turns: ModelMessage[], message: Message): void {
    const reply = replyOf(message);
    if (!reply) return;
    if (wantsUser(turns)) turns.push(continuation());
    turns.push(reply.message);
    if (reply.calls.length > 0) turns.push({ role: 'tool', results: reply.calls.map((id) => this.answerTo(id)) });
  }

  private answerTo(id: CallId): ModelToolResult {
    const block = this.results.get(id);
    return block ? answerOf(block) : toModelResult(id, lostResult);
  }
}

export const wantsUser = (turns: readonly ModelMessage[]): boolean =>
  (turns.at(-1)?.role ?? 'assistant') === 'assistant';

/** A reply and its calls; undefined where it says nothing. */
const replyOf = memoize((message: Message) => {
  const content = message.content.flatMap(assistantBlock);
  if (content.every(({ type }) => type === 'reasoning')) return undefined;

  const calls = content.flatMap((block) => (block.type === 'tool_call' ? [block.id] : []));
  return { message: { role: 'assistant', content } satisfies ModelMessage, calls };
});

function assistantBlock(block: ContentBlock): AssistantBlock[] {
  switch (block.type) {
    case 'text':
      return block.text.trim() === '' ? [] : [block];
    case 'reasoning':
      return [block];
    case 'tool_call':
      return [{ type: 'tool_call', id: block.tool_call_id, name: block.name, arguments: block.arguments }];
    case 'image':
    case 'tool_result':
      return [];
  }
}

const answerOf = memoize(({ tool_call_id, result }: ToolResultBlock) => toModelResult(tool_call_id, result));

const lostResult = failedResult('No result was recorded for this call. It may or may not have taken effect.');

/** What the model reads of a result: the output, and the error where there is one. Never empty. */
export function toModelResult(id: CallId, result: RecordedResult): ModelToolResult {
  const text = [result.output, result.error ? `Error: ${result.error}` : ''].filter((part) => part !== '').join('\n');
  return {
    tool_call_id: id,
    text: text.trim() === '' ? '(no output)' : text,
    is_error: !result.success,
    ...(result.image && { image: { type: 'blob', ...result.image } }),
  };
}

/** Neighbouring user messages become one turn, because some providers insist that roles alternate. */
function pushUserTurn(messages: ModelMessage[], message: Message): void {
  const turn = userTurnOf(message);
  if (turn.content.length === 0) return;

  const last = messages.at(-1);
  if (last?.role === 'user')
    messages[messages.length - 1] = { role: 'user', content: [...last.content, ...turn.content] };
  else messages.push(turn);
}

const userTurnOf = memoize(({ content }: Message) => ({ role: 'user' as const, content: content.filter(isSpoken) }));

const isSpoken = (block: ContentBlock): block is UserBlock =>
  block.type === 'image' || (block.type === 'text' && block.text.trim() !== '');
