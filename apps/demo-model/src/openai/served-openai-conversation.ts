import type { AnsweredCall, Conversation, ConversationTurn } from '../script/script-conversation';
import type { OpenAiMessage, OpenAiRequest } from './served-openai-request';

type AssistantMessage = Extract<OpenAiMessage, { role: 'assistant' }>;

/** Expects messages whose calls and answers are paired. */
export function openAiConversation({ messages, tools = [] }: OpenAiRequest): Conversation {
  const turns = messages.flatMap((message, index): ConversationTurn[] => {
    switch (message.role) {
      case 'user':
        return [{ role: 'user', text: toText(message.content) }];
      case 'assistant':
        return [
          { role: 'assistant', text: toText(message.content), calls: listCalls(message, messages.slice(index + 1)) },
        ];
      case 'system':
      case 'developer':
      case 'tool':
        return [];
    }
  });
  return { offeredTools: tools.map((tool) => tool.function.name), turns };
}

/** The answers come directly after their calls. */
function listCalls({ tool_calls = [] }: AssistantMessage, following: readonly OpenAiMessage[]): AnsweredCall[] {
  const answers = following.slice(0, tool_calls.length).filter((message) => message.role === 'tool');
  return tool_calls.map((call) => ({
    name: call.function.name,
    result: toText(answers.find((answer) => answer.tool_call_id === call.id)?.content),
  }));
}

function toText(content: OpenAiMessage['content'] | undefined): string {
  if (typeof content === 'string') return content;
  return (content ?? []).map((part) => (part.type === 'text' ? part.text : '[image]')).join('\n');
}
