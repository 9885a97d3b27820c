import type { ImageSize } from '@rondo/contract';

/** Estimates what a model counts, closely enough to plan by; the provider's report is exact. */
export interface TokenCounter {
  /**
   * The tokens of each text, in order. Never blocks the event loop: hostile texts only take longer. Caches nothing, so a
   * caller that needs the count of a text again should keep it.
   */
  countTexts(texts: readonly string[], model: string): Promise<number[]>;
  /** The tokens of an image; of an ordinary screenshot where the size is unknown. */
  imageTokens(size: ImageSize | undefined, model: string): number;
}

/**
 * An upper bound: no tokenizer makes more tokens of a text than it has UTF-8 bytes. A prompt that fits by this bound
 * needs no counting.
 */
export function maxTokens(text: string): number {
  let bytes = text.length;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code > 0x7f) bytes += code > 0x7ff && (code < 0xd800 || code > 0xdfff) ? 2 : 1;
  }
  return bytes;
}
