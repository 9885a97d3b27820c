import type { ImageSize } from '@rondo/contract';

/** Counts as a model would, near enough to plan by; what the provider reports afterwards is the truth. */
export interface TokenCounter {
  /**
   * The tokens of each text, in order. Never blocks the event loop, whatever the texts are: hostile ones merely take
   * longer. Remembers nothing, so a caller who asks about the same text again should keep the answer.
   */
  countTexts(texts: readonly string[], model: string): Promise<number[]>;
  /** What an image costs; without a size, what an ordinary screenshot costs. */
  imageTokens(size: ImageSize | undefined, model: string): number;
}

/**
 * No tokenizer makes more tokens of a text than it has bytes. A prompt that fits by this measure fits, and needs no
 * counting.
 */
export function maxTokens(text: string): number {
  let bytes = text.length;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code > 0x7f) bytes += code > 0x7ff && (code < 0xd800 || code > 0xdfff) ? 2 : 1;
  }
  return bytes;
}
