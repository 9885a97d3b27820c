import type Anthropic from '@anthropic-ai/sdk';
import type { Turn } from './anthropic-messages';

type Message = Anthropic.UserMessageParam | Anthropic.AssistantMessageParam;
type Markable = Exclude<
  Anthropic.ContentBlockParam,
  Anthropic.ThinkingBlockParam | Anthropic.RedactedThinkingBlockParam
>;

/** Up to a mark the prompt is kept for five minutes, or for an hour, which costs more to write. */
interface Mark {
  readonly cache_control: Anthropic.CacheControlEphemeral;
}

export const createMark = (forAnHour: boolean): Mark => ({
  cache_control: { type: 'ephemeral', ...(forAnHour && { ttl: '1h' }) },
});

/** The tools come before the system prompt, so its mark covers both. */
export const markSystem = (text: string, mark?: Mark): Anthropic.TextBlockParam[] => [{ type: 'text', text, ...mark }];

/** How many turns at the end may have marks. */
export const markedTurns = 3;

/**
 * Marks up to where Anthropic caches the prompt. With the system prompt there are four marks, the most that it accepts:
 *
 * - the last user turn, before what is in it for this request only, so that the next request finds all else of this one in
 *   the cache;
 * - the user turn before it, which the previous request marked: from a mark the server looks back only twenty blocks, and
 *   one reply with many calls has more;
 * - the last reply, because a server may keep no prefix that ends within a turn.
 */
export function markTurns(turns: readonly Turn[], mark: Mark | undefined): Message[] {
  const marked: Message[] = turns.map((turn) => (turn.temporary === undefined ? turn : withoutCount(turn)));
  if (!mark) return marked;
  const left = { user: 2, assistant: 1 };
  for (let at = turns.length - 1; at >= 0 && left.user + left.assistant > 0; at--) {
    const turn = turns[at];
    if (!turn || left[turn.role] === 0) continue;
    const content = markLast(turn, mark);
    if (!content) continue;
    left[turn.role] -= 1;
    marked[at] = { role: turn.role, content };
  }
  return marked;
}

const withoutCount = ({ role, content }: Turn): Message => ({ role, content });

/** A thinking block cannot be marked; the block before it can. Undefined where there is none. */
function markLast({ content, temporary = 0 }: Turn, mark: Mark): Turn['content'] | undefined {
  const at = content.slice(0, content.length - temporary).findLastIndex(isMarkable);
  return at < 0 ? undefined : content.map((block, index) => (index === at ? { ...block, ...mark } : block));
}

const isMarkable = (block: Anthropic.ContentBlockParam): block is Markable =>
  block.type !== 'thinking' && block.type !== 'redacted_thinking';
