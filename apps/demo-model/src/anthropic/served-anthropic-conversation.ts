import type { AnsweredCall, Conversation, ConversationTurn } from '../script/script-conversation';
import type { AnthropicBlock, AnthropicMessage, AnthropicRequest } from './served-anthropic-request';

/** Expects messages whose calls and results are paired. A message that contains only results is not a user turn. */
export function anthropicConversation({ messages, tools = [] }: AnthropicRequest): Conversation {
  const turns = messages.flatMap((message, index): ConversationTurn[] => {
    const text = toText(message.content);
    if (message.role === 'assistant')
      return [{ role: 'assistant', text, calls: listCalls(message, messages[index + 1]) }];
    return text === '' ? [] : [{ role: 'user', text }];
  });
  return { offeredTools: tools.map(({ name }) => name), turns };
}

function listCalls(message: AnthropicMessage, next: AnthropicMessage | undefined): AnsweredCall[] {
  const results = listBlocks(next?.content ?? []).filter((block) => block.type === 'tool_result');
  return listBlocks(message.content)
    .filter((block) => block.type === 'tool_use')
    .map(({ id, name }) => ({
      name,
      result: toText(results.find((result) => result.tool_use_id === id)?.content ?? ''),
    }));
}

type Content = string | readonly AnthropicBlock[];

const listBlocks = (content: Content): readonly AnthropicBlock[] => (typeof content === 'string' ? [] : content);

function toText(content: Content): string {
  if (typeof content === 'string') return content;
  return content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
}
