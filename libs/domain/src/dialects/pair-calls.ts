import type { ContentBlock, ToolResultBlock, UserBlock } from '../content';
import type { CallId } from '../ids';
import type { Message } from '../message';
import type { AssistantBlock, ModelMessage, ModelToolResult } from '../model';
import { oncePer } from '../once-per';
import { failedResult, type RecordedResult } from '../tool-result';

/**
 * Turns a conversation into what any provider accepts (I6): it begins with `user`, every call has exactly one result
 * right after it in the order of the calls, no result stands without its call, and nothing is empty.
 *
 * The log keeps pairs whole, so this changes nothing in a healthy thread. It is the last guard for a thread that a
 * user wrote into between a call and its answer, or whose run died before the answer (R29).
 *
 * Whoever is asked with the same messages again gets the same turns again, object for object, but for tools' turns.
 */
export function pairCalls(conversation: readonly Message[]): ModelMessage[] {
  const results = resultsOf(conversation);
  const messages: ModelMessage[] = [];

  for (const message of conversation) {
    if (message.type === 'assistant') messages.push(...assistantTurn(message, results));
    else if (message.type !== 'tool') pushUserTurn(messages, message);
  }
  return letTheUserSpeak(messages);
}

const continuation: ModelMessage = { role: 'user', content: [{ type: 'text', text: '(The conversation continues.)' }] };

/** A user turn wherever a provider wants one: first, between two replies, and last. */
export function letTheUserSpeak(messages: readonly ModelMessage[]): ModelMessage[] {
  const turns: ModelMessage[] = [];
  let before: ModelMessage['role'] = 'assistant';
  for (const message of messages) {
    if (message.role === 'assistant' && before === 'assistant') turns.push(continuation);
    turns.push(message);
    before = message.role;
  }
  if (before === 'assistant') turns.push(continuation);
  return turns;
}

function resultsOf(conversation: readonly Message[]): Map<CallId, ToolResultBlock> {
  const results = new Map<CallId, ToolResultBlock>();
  for (const message of conversation) {
    for (const block of message.content) {
      if (block.type === 'tool_result' && !results.has(block.tool_call_id)) results.set(block.tool_call_id, block);
    }
  }
  return results;
}

function assistantTurn(message: Message, results: ReadonlyMap<CallId, ToolResultBlock>): ModelMessage[] {
  const reply = replyOf(message);
  if (!reply) return [];
  if (reply.calls.length === 0) return [reply.message];

  const answers = reply.calls.map((id) => {
    const block = results.get(id);
    return block ? answerOf(block) : toModelResult(id, lostResult);
  });
  return [reply.message, { role: 'tool', results: answers }];
}

/** A reply and its calls; undefined where it says nothing. */
const replyOf = oncePer((message: Message) => {
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

const answerOf = oncePer(({ tool_call_id, result }: ToolResultBlock) => toModelResult(tool_call_id, result));

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

const userTurnOf = oncePer(({ content }: Message) => ({ role: 'user' as const, content: content.filter(isSpoken) }));

const isSpoken = (block: ContentBlock): block is UserBlock =>
  block.type === 'image' || (block.type === 'text' && block.text.trim() !== '');
