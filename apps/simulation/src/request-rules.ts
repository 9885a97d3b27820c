import type { CallId } from '@rondo/contract';
import type { ModelMessage } from '@rondo/domain';

/** What any provider would refuse of a request's messages (I6): the reason, or undefined. */
export function refusalOf(messages: readonly ModelMessage[]): string | undefined {
  const seen = new Set<CallId>();
  for (const [at, message] of messages.entries()) {
    const reason = refusalAt(messages, at) ?? repeatedCall(message, seen);
    if (reason !== undefined) return `message ${at}: ${reason}`;
  }
  const last = messages.at(-1)?.role;
  return last === 'user' || last === 'tool' ? undefined : `the last message has the role ${last ?? 'none'}`;
}

function refusalAt(messages: readonly ModelMessage[], at: number): string | undefined {
  const [before, message] = [messages[at - 1], messages[at]];
  if (message?.role === 'tool') return unansweredBy(message.results, callsOf(before));
  if (callsOf(before).length > 0) return 'the calls before it are not answered';
  if (before === undefined && message?.role !== 'user') return 'the first message is not the user’s';
  if (before?.role === message?.role) return `two messages of the role ${message?.role ?? 'none'} in a row`;
  return message?.content.some(isSaid) ? undefined : 'it is empty';
}

const isSaid = (block: { readonly type: string; readonly text?: string }): boolean =>
  block.type === 'tool_call' || block.type === 'image' || (block.type === 'text' && block.text?.trim() !== '');

const callsOf = (message: ModelMessage | undefined): CallId[] =>
  message?.role === 'assistant'
    ? message.content.flatMap((block) => (block.type === 'tool_call' ? [block.id] : []))
    : [];

function unansweredBy(results: readonly { tool_call_id: CallId; text: string }[], calls: CallId[]): string | undefined {
  if (results.map(({ tool_call_id: id }) => id).join() !== calls.join())
    return 'its results are not those of the calls';
  return results.some(({ text }) => text.trim() === '') ? 'a result is empty' : undefined;
}

function repeatedCall(message: ModelMessage, seen: Set<CallId>): string | undefined {
  for (const id of callsOf(message)) {
    if (seen.has(id)) return `${id} stands twice`;
    seen.add(id);
  }
  return undefined;
}
