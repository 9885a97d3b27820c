import type Anthropic from '@anthropic-ai/sdk';

type Message = Anthropic.UserMessageParam | Anthropic.AssistantMessageParam;
type Markable = Exclude<
  Anthropic.ContentBlockParam,
  Anthropic.ThinkingBlockParam | Anthropic.RedactedThinkingBlockParam
>;

const mark = { cache_control: { type: 'ephemeral' } } as const;

/** The tools come before the system prompt, so its mark covers both. */
export const markedSystem = (text: string): Anthropic.TextBlockParam[] => [{ type: 'text', text, ...mark }];

/** How many turns at the end may have marks. */
export const markedTurns = 3;

/**
 * Marks up to where Anthropic caches the prompt. With the system prompt there are four marks, the most that it accepts:
 *
 * - the last user turn, so that the next request finds all of this one in the cache;
 * - the user turn before it, which the previous request marked: from a mark the server looks back only twenty blocks, and
 *   one reply with many calls has more;
 * - the last reply, because a user turn may have contained something for one request only, which ends the cached prefix.
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

/** A thinking block cannot be marked; the block before it can. */
function markLast(message: Message): Message {
  if (typeof message.content === 'string') return message;
  const at = message.content.findLastIndex(isMarkable);
  return { ...message, content: message.content.map((block, index) => (index === at ? { ...block, ...mark } : block)) };
}

const isMarkable = (block: Anthropic.ContentBlockParam): block is Markable =>
  block.type !== 'thinking' && block.type !== 'redacted_thinking';
