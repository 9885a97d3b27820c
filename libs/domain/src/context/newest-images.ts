import type { ContentBlock, NewMessage } from '@rondo/contract';
import { memoizeByNumber } from '../memoize/memoize';
import type { Sent } from './sent-message';

/**
 * The newest images stay; of an older one it is said that it was there. `changedAt` is the place of the newest image
 * that pushed another one out: words before it are no longer what they were. -1 where all stay.
 */
export function keepNewestImages(sent: readonly Sent[], keep: number): { sent: readonly Sent[]; changedAt: number } {
  let left = keep;
  let newest = -1;
  let pushedOut = false;
  const kept = new Map<Sent, NewMessage>();

  for (let index = sent.length - 1; index >= 0; index--) {
    const one = sent[index];
    const images = one ? imagesIn(one.message) : 0;
    if (!one || images === 0) continue;
    if (newest < 0) newest = one.at;
    if (images > left) {
      pushedOut = true;
      kept.set(one, withNewestImages(one.message, left));
    }
    left = Math.max(0, left - images);
  }
  if (!pushedOut) return { sent, changedAt: -1 };
  return { sent: sent.map((one) => ({ message: kept.get(one) ?? one.message, at: one.at })), changedAt: newest };
}

export const hasImage = (block: ContentBlock): boolean =>
  block.type === 'image' || (block.type === 'tool_result' && block.result.image !== undefined);

const imagesIn = ({ content }: NewMessage): number =>
  content.reduce((count, block) => count + (hasImage(block) ? 1 : 0), 0);

const withNewestImages = memoizeByNumber((message: NewMessage, keep) => dropOldest(message, imagesIn(message) - keep));

function dropOldest(message: NewMessage, count: number): NewMessage {
  let left = count;
  const note = `[An image of ${message.id} was here; only the newest images are shown.]`;
  const content = message.content.map((block): ContentBlock => {
    if (!hasImage(block) || left === 0) return block;
    left -= 1;
    if (block.type !== 'tool_result') return { type: 'text', text: note };
    const { image: _, ...result } = block.result;
    return { ...block, result: { ...result, output: [result.output, note].filter(Boolean).join('\n') } };
  });
  return { ...message, content };
}
