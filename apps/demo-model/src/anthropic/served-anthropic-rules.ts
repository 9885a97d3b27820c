import { createHash } from 'node:crypto';
import { Violation } from '../refusal';
import type { AnthropicBlock, AnthropicMessage, AnthropicRequest } from './served-anthropic-request';

const maxCacheMarks = 4;

/** The rules that a schema cannot express: which fields and messages of a request require or exclude each other. */
export function checkAnthropicRules(request: AnthropicRequest): void {
  checkSettings(request);
  checkRoles(request.messages);
  checkToolUses(request.messages);
  checkSignatures(request.messages);
  checkOpenTurn(request);
}

function checkSettings({
  thinking,
  temperature,
  max_tokens,
  tools = [],
  tool_choice,
  ...request
}: AnthropicRequest): void {
  if (thinking?.type === 'enabled' && max_tokens <= thinking.budget_tokens) {
    throw new Violation('`max_tokens` must be greater than `thinking.budget_tokens`.', 'max_tokens');
  }
  if (thinking && thinking.type !== 'disabled') {
    if (temperature !== undefined && temperature !== 1) {
      throw new Violation('`temperature` may only be set to 1 when thinking is enabled.', 'temperature');
    }
    if (tool_choice?.type === 'any' || tool_choice?.type === 'tool') {
      throw new Violation('Thinking may not be enabled when tool_choice forces tool use.', 'tool_choice');
    }
  }
  if (tool_choice && tools.length === 0) {
    throw new Violation('tool_choice: may only be specified while providing tools', 'tool_choice');
  }
  if (new Set(tools.map(({ name }) => name)).size < tools.length) {
    throw new Violation('tools: Tool names must be unique.', 'tools');
  }
  const marks = cacheMarksIn([request.messages, request.system, tools, { cache_control: request.cache_control }]);
  if (marks > maxCacheMarks) {
    throw new Violation(`A maximum of ${maxCacheMarks} blocks with cache_control may be provided. Found ${marks}.`);
  }
}

function cacheMarksIn(value: unknown): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, entry) => sum + cacheMarksIn(entry), 0);
  if (typeof value !== 'object' || value === null) return 0;
  const own = 'cache_control' in value && value.cache_control ? 1 : 0;
  return own + ('content' in value ? cacheMarksIn(value.content) : 0);
}

function checkRoles(messages: readonly AnthropicMessage[]): void {
  if (messages[0]?.role !== 'user')
    throw new Violation('messages: first message must use the "user" role', 'messages.0');
  messages.forEach(({ role }, index) => {
    if (role === messages[index - 1]?.role) {
      throw new Violation(
        `messages: roles must alternate between "user" and "assistant", but found multiple "${role}" roles in a row`,
        `messages.${index}`,
      );
    }
  });
  if (messages.at(-1)?.role !== 'user') {
    throw new Violation(
      'This model does not support assistant message prefill. The conversation must end with a user message.',
      `messages.${messages.length - 1}`,
    );
  }
}

function checkToolUses(messages: readonly AnthropicMessage[]): void {
  const known = new Set<string>();
  let asked: string[] = [];

  messages.forEach((message, index) => {
    const blocks = listBlocks(message);
    checkResults(blocks, asked, index);
    asked = blocks.filter((block) => block.type === 'tool_use').map(({ id }) => id);
    for (const id of asked) {
      if (known.has(id)) throw new Violation('messages: `tool_use` ids must be unique', `messages.${index}`);
      known.add(id);
    }
  });
}

/** The results of the previous message's calls come first, exactly one for each call. */
function checkResults(blocks: readonly AnthropicBlock[], asked: readonly string[], index: number): void {
  const open = new Set(asked);
  blocks.forEach((block, position) => {
    if (block.type !== 'tool_result') return;
    const place = `messages.${index}.content.${position}`;
    if (position > 0 && blocks[position - 1]?.type !== 'tool_result') {
      throw new Violation(`${place}: \`tool_result\` blocks must come before any other content of the message`, place);
    }
    if (open.delete(block.tool_use_id)) return;
    throw new Violation(
      asked.includes(block.tool_use_id)
        ? `${place}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${block.tool_use_id}`
        : `${place}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${block.tool_use_id}. ` +
            'Each `tool_result` block must have a corresponding `tool_use` block in the previous message.',
      place,
    );
  });
  if (open.size > 0) {
    throw new Violation(
      `messages.${index - 1}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ` +
        `${[...open].join(', ')}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
      `messages.${index}`,
    );
  }
}

function checkSignatures(messages: readonly AnthropicMessage[]): void {
  messages.forEach((message, index) => {
    listBlocks(message).forEach((block, position) => {
      if (block.type !== 'thinking' || block.signature === toSignature(block.thinking)) return;
      const place = `messages.${index}.content.${position}`;
      throw new Violation(`${place}: Invalid \`signature\` in \`thinking\` block`, place);
    });
  });
}

/** With a thinking budget, a turn whose calls are being answered must have begun with a thinking block. */
function checkOpenTurn({ thinking, messages }: AnthropicRequest): void {
  if (thinking?.type !== 'enabled') return;
  let begin = messages.length;
  for (let at = messages.length - 1; answersCalls(messages[at]); at -= 2) {
    if (at < messages.length - 1 && speaks(messages[at])) break;
    begin = at - 1;
  }
  const message = messages[begin];
  const first = message && listBlocks(message)[0];
  if (!first || first.type === 'thinking' || first.type === 'redacted_thinking') return;
  const place = `messages.${begin}.content.0.type`;
  throw new Violation(
    `${place}: Expected \`thinking\` or \`redacted_thinking\`, but found \`${first.type}\`. When \`thinking\` is enabled, ` +
      'a final `assistant` message must start with a thinking block (preceding the lastmost set of `tool_use` and ' +
      '`tool_result` blocks). To avoid this requirement, disable `thinking`.',
    place,
  );
}

const answersCalls = (message: AnthropicMessage | undefined): boolean =>
  message?.role === 'user' && listBlocks(message).some(({ type }) => type === 'tool_result');

const speaks = (message: AnthropicMessage | undefined): boolean =>
  message !== undefined && listBlocks(message).some(({ type }) => type !== 'tool_result');

const listBlocks = ({ content }: AnthropicMessage): readonly AnthropicBlock[] =>
  typeof content === 'string' ? [] : content;

/** Signs a thinking block, so that a later request shows whether the block was returned unchanged. */
export const toSignature = (thinking: string): string =>
  createHash('sha256').update(`demo ${thinking}`).digest('base64');
