import type { ImageSize } from '@rondo/contract';
import type { TokenCounter } from './token-counter';

/**
 * Remembers what a counter said of a text, for all runs of a process: one that comes back, from its summarizer or from
 * another worker, brings mostly texts that were counted before. What was not asked about for longest is forgotten first.
 */
export class CachingTokenCounter implements TokenCounter {
  private readonly known = new Map<string, number>();
  private remembered = 0;

  constructor(
    private readonly counter: TokenCounter,
    private readonly mostCharacters = 8_000_000,
  ) {}

  async countTexts(texts: readonly string[], model: string): Promise<number[]> {
    const keys = texts.map((text) => `${model}\n${text}`);
    const found = keys.map((key) => this.recall(key));
    const missing = keys.flatMap((_, at) => (found[at] === undefined ? [at] : []));
    if (missing.length === 0) return found.map((count) => count ?? 0);

    const counts = await this.counter.countTexts(
      missing.map((at) => texts[at] ?? ''),
      model,
    );
    missing.forEach((at, index) => {
      found[at] = counts[index] ?? 0;
      this.remember(keys[at] ?? '', found[at]);
    });
    return found.map((count) => count ?? 0);
  }

  imageTokens(size: ImageSize | undefined, model: string): number {
    return this.counter.imageTokens(size, model);
  }

  /** Moves it behind all others. */
  private recall(key: string): number | undefined {
    const count = this.known.get(key);
    if (count === undefined) return undefined;
    this.known.delete(key);
    this.known.set(key, count);
    return count;
  }

  private remember(key: string, count: number): void {
    if (!this.known.has(key)) this.remembered += key.length;
    this.known.set(key, count);
    for (const oldest of this.known.keys()) {
      if (this.remembered <= this.mostCharacters) return;
      this.known.delete(oldest);
      this.remembered -= oldest.length;
    }
  }
}
