import { z } from 'zod';
import { firstIssue } from '../first-issue';
import { promptPart } from '../replay/prompt-part';
import type { Asked, Protocol, WireError } from '../protocol';
import { ContextOverflow, type Refusal, type RefusalKind, Violation } from '../refusal';
import { openAiConversation } from './served-openai-conversation';
import { openAiCompletion, openAiFrames } from './served-openai-reply';
import { openAiRequest } from './served-openai-request';
import { checkOpenAiRules } from './served-openai-rules';

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
