import type { IncomingHttpHeaders } from 'node:http';
import { firstIssue, ContextOverflow, type Refusal, type RefusalKind, Violation } from '../refusal';
import type { Asked, PromptPart, Protocol, WireError } from '../protocol';
import { anthropicFrames, anthropicMessage } from './served-anthropic-reply';
import {
  type AnthropicBlock,
  type AnthropicMessage,
  type AnthropicRequest,
  anthropicRequest,
} from './served-anthropic-request';
import { checkAnthropicRules } from './served-anthropic-rules';
import type { AnsweredCall, Conversation, ConversationTurn } from '../script/script-conversation';
import { promptPart } from '../replay/prompt-cache';

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

/** Expects messages whose calls and results are paired. A message that contains only results is not a user turn. */
function anthropicConversation({ messages, tools = [] }: AnthropicRequest): Conversation {
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

/** The prompt in the order in which the model reads it: tools, system prompt, blocks. A cache mark belongs to its block. */
function toPrompt({ tools = [], system, messages }: AnthropicRequest): PromptPart[] {
  const blocks = messages.flatMap(({ role, content }) => toList(content).map((block) => ({ role, block })));
  return [
    ...tools.map((tool) => promptPart(tool, isMarked(tool))),
    ...toList(system ?? []).map((block) => promptPart(block, isMarked(block))),
    ...blocks.map((entry) => promptPart(entry, isMarked(entry.block))),
  ];
}

const toList = (content: string | readonly object[]): readonly object[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : content;

const isMarked = (block: object): boolean => 'cache_control' in block && Boolean(block.cache_control);
