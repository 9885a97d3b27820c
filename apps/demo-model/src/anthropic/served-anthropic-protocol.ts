import type { IncomingHttpHeaders } from 'node:http';
import { firstIssue } from '../first-issue';
import type { Asked, Protocol, WireError } from '../protocol';
import { ContextOverflow, type Refusal, type RefusalKind, Violation } from '../refusal';
import { anthropicConversation } from './served-anthropic-conversation';
import { anthropicFrames, anthropicMessage } from './served-anthropic-reply';
import { toPrompt } from './served-anthropic-prompt';
import { anthropicRequest } from './served-anthropic-request';
import { checkAnthropicRules } from './served-anthropic-rules';

/** Anthropic's Messages. */
export const anthropicProtocol: Protocol = {
  name: 'anthropic',
  read,
  frames: anthropicFrames,
  whole: anthropicMessage,
  error,
  errorFrame: (refusal) => `event: error\ndata: ${JSON.stringify(error(refusal).body)}\n\n`,
};

function read(body: unknown, headers: IncomingHttpHeaders): Asked {
  if (!headers['anthropic-version']) throw new Violation('anthropic-version: header is required');
  const parsed = anthropicRequest.safeParse(body);
  if (!parsed.success) throw unreadable(firstIssue(parsed.error));
  const request = parsed.data;
  checkAnthropicRules(request);
  return {
    model: request.model,
    stream: request.stream ?? false,
    includeUsage: true,
    messages: request.messages.length,
    prompt: toPrompt(request),
    conversation: anthropicConversation(request),
  };
}

function unreadable({ path, message, code }: ReturnType<typeof firstIssue>): Violation {
  const place = path.join('.');
  if (code === 'unrecognized_keys')
    return new Violation(`${place}: Extra inputs are not permitted (${message})`, place);
  if (message.endsWith('received undefined')) return new Violation(`${place}: Field required`, place);
  return new Violation(`${place}: ${message}`, place);
}

const wire: Record<RefusalKind, { status: number; type: string }> = {
  invalid_request: { status: 400, type: 'invalid_request_error' },
  context_overflow: { status: 400, type: 'invalid_request_error' },
  authentication: { status: 401, type: 'authentication_error' },
  not_found: { status: 404, type: 'not_found_error' },
  too_large: { status: 413, type: 'request_too_large' },
  rate_limit: { status: 429, type: 'rate_limit_error' },
  server_error: { status: 500, type: 'api_error' },
  overloaded: { status: 529, type: 'overloaded_error' },
};

function error(refusal: Refusal): WireError {
  const { kind, details } = refusal;
  const { status, type } = wire[kind];
  const message =
    refusal instanceof ContextOverflow
      ? `prompt is too long: ${refusal.tokens} tokens > ${refusal.limit} maximum`
      : refusal.message;
  return {
    status,
    headers: details.retryAfterS === undefined ? {} : { 'retry-after': String(details.retryAfterS) },
    body: { type: 'error', error: { type, message } },
  };
}
