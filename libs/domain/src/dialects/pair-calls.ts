import type { ContentBlock, ToolResultBlock, UserBlock } from '../content';
import type { CallId } from '../ids';
import type { Message } from '../message';
import type { AssistantBlock, ModelMessage, ModelToolResult } from '../model';
import { failedResult, type RecordedResult } from '../tool-result';

/**
 * Turns a conversation into what any provider accepts (I6): it begins with `user`, every call has exactly one result
 * right after it in the order of the calls, no result stands without its call, and nothing is empty.
 *
 * The log keeps pairs whole, so this changes nothing in a healthy thread. It is the last guard for a thread that a
 * user wrote into between a call and its answer, or whose run died before the answer (R29).
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
  const turns = messages.flatMap((message, at) => {
    const before = messages[at - 1]?.role;
    return message.role === 'assistant' && (before === undefined || before === 'assistant')
      ? [continuation, message]
      : [message];
  });
  const last = turns.at(-1)?.role;
  return last === undefined || last === 'assistant' ? [...turns, continuation] : turns;
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
  const content = message.content.flatMap((block): AssistantBlock[] => {
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
  });
  const calls = content.filter((block) => block.type === 'tool_call');
  const speaks = content.some((block) => block.type !== 'reasoning');
  if (!speaks) return [];
  if (calls.length === 0) return [{ role: 'assistant', content }];

  const answers = calls.map(({ id }): ModelToolResult => toModelResult(id, results.get(id)?.result ?? lostResult));
  return [
    { role: 'assistant', content },
    { role: 'tool', results: answers },
  ];
}

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
  const content = message.content.filter(isSpoken);
  if (content.length === 0) return;

  const last = messages.at(-1);
  if (last?.role === 'user') messages[messages.length - 1] = { role: 'user', content: [...last.content, ...content] };
  else messages.push({ role: 'user', content });
}

const isSpoken = (block: ContentBlock): block is UserBlock =>
  block.type === 'image' || (block.type === 'text' && block.text.trim() !== '');
