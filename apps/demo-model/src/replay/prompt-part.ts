import type { PromptPart } from '../protocol';

/** An image counts as 1,500 tokens, whatever its size. */
const imageChars = 6000;
const imageData = /^(?:data:image\/[a-z]+;base64,)?[A-Za-z0-9+/=]{200,}$/;

/** A part of a prompt. Its cache entry does not depend on its cache mark. */
export function promptPart(value: unknown, marked: boolean): PromptPart {
  let chars = 0;
  const text = JSON.stringify(value, (key, entry: unknown) => {
    if (key === 'cache_control') return undefined;
    if ((key === 'data' || key === 'url') && typeof entry === 'string' && imageData.test(entry)) {
      chars += imageChars - entry.length;
    }
    return entry;
  });
  return { text, marked, chars: chars + text.length };
}
