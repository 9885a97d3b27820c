import type Anthropic from '@anthropic-ai/sdk';

type Message = Anthropic.UserMessageParam | Anthropic.AssistantMessageParam;
type Markable = Exclude<
  Anthropic.ContentBlockParam,
  Anthropic.ThinkingBlockParam | Anthropic.RedactedThinkingBlockParam
>;

const mark = { cache_control: { type: 'ephemeral' } } as const;

/** The tools come before the system prompt, so its mark covers both. */
export const markedSystem = (text: string): Anthropic.TextBlockParam[] => [{ type: 'text', text, ...mark }];

/** Marks are on the last turns only, as many as these. */
export const markedTurns = 3;

/**
 * Marks where Anthropic shall keep what it has read. With the system prompt's these are four, as many as it takes (LM4):
 *
 * - the last user turn, so that the next request finds all of this one;
 * - the user turn before it, which the last request marked: looking back from a mark, the server sees twenty blocks
 *   only, and one reply with many calls has more;
 * - the last reply, because a user turn may have held something for one request alone; what was kept behind it is lost.
 */
export function markTurns(messages: readonly Message[]): Message[] {
  const marked = [...messages];
  const left = { user: 2, assistant: 1 };
  for (let at = messages.length - 1; at >= 0 && left.user + left.assistant > 0; at--) {
    const message = messages[at];
    if (!message || left[message.role] === 0) continue;
    left[message.role] -= 1;
    marked[at] = markLast(message);
  }
  return marked;
}

/** A thought cannot be marked; what stands before it can. */
function markLast(message: Message): Message {
  if (typeof message.content === 'string') return message;
  const at = message.content.findLastIndex(isMarkable);
  return { ...message, content: message.content.map((block, index) => (index === at ? { ...block, ...mark } : block)) };
}

const isMarkable = (block: Anthropic.ContentBlockParam): block is Markable =>
  block.type !== 'thinking' && block.type !== 'redacted_thinking';
