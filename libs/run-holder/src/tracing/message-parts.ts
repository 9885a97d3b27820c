import type { Message } from '@rondo/contract';

const roles: Partial<Record<Message['type'], string>> = { assistant: 'assistant', tool: 'tool', status: 'system' };

/** Messages in the JSON of the GenAI conventions. Of images only their kind is said. */
export const messagesAsJson = (messages: readonly Pick<Message, 'type' | 'content'>[]): string =>
  JSON.stringify(messages.map(({ type, content }) => ({ role: roles[type] ?? 'user', parts: content.map(partOf) })));

function partOf(block: Message['content'][number]): object {
  switch (block.type) {
    case 'text':
      return { type: 'text', content: block.text };
    case 'tool_call':
      return { type: 'tool_call', id: block.tool_call_id, name: block.name, arguments: block.arguments };
    case 'tool_result':
      return { type: 'tool_call_response', id: block.tool_call_id, response: block.result };
    case 'reasoning':
      return { type: 'reasoning', content: block.text };
    case 'image':
      return { type: 'image' };
  }
}
