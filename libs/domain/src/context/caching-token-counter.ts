import type { ImageSize } from '@rondo/contract';
import type { TokenCounter } from '../ports';

/**
 * Caches counts for all runs of a process: a run that returns from the summarizer or from another worker has mostly texts
 * that were counted before. Evicts the least recently used.
 */
export class CachingTokenCounter implements TokenCounter {
  private readonly cache = new Map<string, number>();
  private characters = 0;

  constructor(
    private readonly counter: TokenCounter,
    private readonly maxCharacters = 8_000_000,
  ) {}

  async countTexts(texts: readonly string[], model: string): Promise<number[]> {
    const keys = texts.map((text) => `${model}\n${text}`);
    const found = keys.map((key) => this.lookUp(key));
    const missing = keys.flatMap((_, index) => (found[index] === undefined ? [index] : []));
    if (missing.length === 0) return found.map((count) => count ?? 0);

    const counts = await this.counter.countTexts(
      missing.map((index) => texts[index] ?? ''),
      model,
    );
    missing.forEach((index, nth) => {
      found[index] = counts[nth] ?? 0;
      this.store(keys[index] ?? '', found[index]);
    });
    return found.map((count) => count ?? 0);
  }

  imageTokens(size: ImageSize | undefined, model: string): number {
    return this.counter.imageTokens(size, model);
  }

  /** Also marks the entry as most recently used. */
  private lookUp(key: string): number | undefined {
    const count = this.cache.get(key);
    if (count === undefined) return undefined;
    this.cache.delete(key);
    this.cache.set(key, count);
    return count;
  }

  private store(key: string, count: number): void {
    if (!this.cache.has(key)) this.characters += key.length;
    this.cache.set(key, count);
    for (const oldest of this.cache.keys()) {
      if (this.characters <= this.maxCharacters) return;
      this.cache.delete(oldest);
      this.characters -= oldest.length;
    }
  }
}
