import type { ContentBlock, NewMessage, ToolCall } from '@rondo/contract';
import type { PastCall, ThreadArchive } from '../ports';
import { expandMessage, sequentialThinking, simpleMemory } from '../tools/memory.tools';

type Conversation = readonly NewMessage[];

/** The conversation with the archived messages or calls that the tool call needs. */
export async function recall(
  call: ToolCall,
  conversation: Conversation,
  archive: ThreadArchive | undefined,
): Promise<Conversation> {
  if (!archive) return conversation;
  if (call.name === expandMessage.name) return withMessage(conversation, call.arguments['message_id'], archive);
  if (call.name !== simpleMemory.name && call.name !== sequentialThinking.name) return conversation;
  return withCalls(conversation, await archive.succeeded(call.name), call);
}

async function withMessage(conversation: Conversation, id: unknown, archive: ThreadArchive): Promise<Conversation> {
  if (typeof id !== 'string' || conversation.some((message) => message.id === id)) return conversation;
  const message = await archive.message(id);
  return message ? [...conversation, message] : conversation;
}

/** The newest calls may not be in the archive yet. */
function withCalls(
  conversation: Conversation,
  past: readonly PastCall[],
  { name, message_id }: ToolCall,
): Conversation {
  const known = new Set<string>(past.map(({ id }) => id));
  const isNew = (block: ContentBlock) => block.type !== 'tool_call' || !known.has(block.tool_call_id);
  const reply = conversation.find(({ id }) => id === message_id);
  if (!reply) return conversation;
  const archived = past.map(({ id, runId, arguments: given }): NewMessage => ({
    ...reply,
    run_id: runId,
    content: [
      { type: 'tool_call', tool_call_id: id, name, arguments: given },
      { type: 'tool_result', tool_call_id: id, name, result: { success: true, output: '' } },
    ],
  }));
  return [...archived, ...conversation.map((message) => ({ ...message, content: message.content.filter(isNew) }))];
}
