import type { ModelMessage } from '../models/model';

/** What some provider would refuse in a request (I6). */
export function requestViolations(messages: readonly ModelMessage[]): string[] {
  const last = messages.at(-1)?.role === 'assistant' ? ['the assistant has the last word'] : [];
  return [...messages.flatMap((message, at) => violationsAt(messages, message, at)), ...last];
}

function violationsAt(messages: readonly ModelMessage[], message: ModelMessage, at: number): string[] {
  const before = messages[at - 1];
  switch (message.role) {
    case 'user':
      return [
        ...(message.content.length === 0 ? ['an empty user turn'] : []),
        ...(before?.role === 'user' ? ['two user turns in a row'] : []),
      ];
    case 'assistant': {
      const calls = message.content.flatMap((block) => (block.type === 'tool_call' ? [block.id] : []));
      const next = messages[at + 1];
      const answers = next?.role === 'tool' ? next.results.map((result) => result.tool_call_id) : [];
      return [
        ...(message.content.length === 0 ? ['an empty reply'] : []),
        ...(!before || before.role === 'assistant' ? ['two replies in a row, or one at the start'] : []),
        ...(JSON.stringify(calls) === JSON.stringify(answers) ? [] : ['calls and results do not match']),
      ];
    }
    case 'tool':
      return before?.role === 'assistant'
        ? message.results.flatMap(({ text }) => (text ? [] : ['an empty result']))
        : ['an orphaned result'];
  }
}
