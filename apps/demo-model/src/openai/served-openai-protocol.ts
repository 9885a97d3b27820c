import { z } from 'zod';
import { firstIssue, ContextOverflow, type Refusal, type RefusalKind, Violation } from '../refusal';
import { promptPart } from '../replay/prompt-cache';
import type { Asked, Protocol, WireError } from '../protocol';
import { openAiCompletion, openAiFrames } from './served-openai-reply';
import { type OpenAiMessage, type OpenAiRequest, openAiRequest } from './served-openai-request';
import { checkOpenAiRules } from './served-openai-rules';
import type { AnsweredCall, Conversation, ConversationTurn } from '../script/script-conversation';

/** OpenAI's Chat Completions. */
export const openAiProtocol: Protocol = {
  name: 'openai',
  read,
  frames: openAiFrames,
  whole: openAiCompletion,
  error,
  errorFrame: (refusal) => `data: ${JSON.stringify(error(refusal).body)}\n\n`,
};

const messagesWithContent = z.looseObject({
  messages: z.array(z.looseObject({}).transform((message) => ({ content: null, ...message }))),
});

/** An absent `content` is null, as OpenAI itself reads it. */
export const lenientOpenAiProtocol: Protocol = {
  ...openAiProtocol,
  read: (body) => read(messagesWithContent.safeParse(body).data ?? body),
};

function read(body: unknown): Asked {
  const parsed = openAiRequest.safeParse(body);
  if (!parsed.success) {
    const { path, message } = firstIssue(parsed.error);
    throw new Violation(`Invalid value for '${path.join('.')}': ${message}`, path.join('.'));
  }
  const request = parsed.data;
  checkOpenAiRules(request);
  return {
    model: request.model,
    stream: request.stream ?? false,
    includeUsage: request.stream_options?.include_usage ?? false,
    messages: request.messages.length,
    prompt: [...(request.tools ? [request.tools] : []), ...request.messages].map((part) => promptPart(part, true)),
    conversation: openAiConversation(request),
  };
}

const wire: Record<RefusalKind, { status: number; type: string; code: string | null }> = {
  invalid_request: { status: 400, type: 'invalid_request_error', code: null },
  context_overflow: { status: 400, type: 'invalid_request_error', code: 'context_length_exceeded' },
  authentication: { status: 401, type: 'invalid_request_error', code: 'invalid_api_key' },
  not_found: { status: 404, type: 'invalid_request_error', code: 'model_not_found' },
  too_large: { status: 413, type: 'invalid_request_error', code: null },
  rate_limit: { status: 429, type: 'requests', code: 'rate_limit_exceeded' },
  server_error: { status: 500, type: 'server_error', code: null },
  overloaded: { status: 503, type: 'server_error', code: 'overloaded' },
};

function error(refusal: Refusal): WireError {
  const { kind, details } = refusal;
  const { status, type, code } = wire[kind];
  const message = refusal instanceof ContextOverflow ? tooLong(refusal) : refusal.message;
  return {
    status,
    headers: details.retryAfterS === undefined ? {} : { 'retry-after': String(details.retryAfterS) },
    body: {
      error: { message, type, param: kind === 'context_overflow' ? 'messages' : (details.parameter ?? null), code },
    },
  };
}

const tooLong = ({ tokens, limit }: ContextOverflow): string =>
  `This model's maximum context length is ${limit} tokens. However, your messages resulted in ${tokens} tokens. ` +
  'Please reduce the length of the messages.';

type AssistantMessage = Extract<OpenAiMessage, { role: 'assistant' }>;

/** Expects messages whose calls and answers are paired. */
function openAiConversation({ messages, tools = [] }: OpenAiRequest): Conversation {
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
