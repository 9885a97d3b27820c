import { createHash } from 'node:crypto';
import type { PromptPart } from '../protocol';
import { type CachedTokens, tokensIn } from './token-estimate';

/** Providers cache no shorter prefix. */
const smallestTokens = 1024;
/** How many parts before a mark a provider searches for a cached prefix. */
const lookBack = 20;
const capacity = 20_000;

interface Prefix {
  readonly key: string;
  readonly tokens: number;
  readonly marked: boolean;
}

/** Caches the prefixes of prompts as providers do, to show how much a client gains by keeping them stable. */
export class PromptCache {
  private readonly kept = new Set<string>();

  read(model: string, prompt: readonly PromptPart[]): CachedTokens {
    const prefixes = listPrefixes(model, prompt);
    const marks = prefixes.flatMap(({ marked, tokens }, at) => (marked && tokens >= smallestTokens ? [at] : []));
    const known = marks.map((at) =>
      prefixes.slice(Math.max(0, at - lookBack), at + 1).findLast(({ key }) => this.kept.has(key)),
    );
    const read = Math.max(0, ...known.map((prefix) => prefix?.tokens ?? 0));
    const written = Math.max(read, ...marks.map((at) => prefixes[at]?.tokens ?? 0)) - read;
    for (const at of marks) this.keep(prefixes[at]?.key ?? '');
    return { read, written };
  }

  private keep(key: string): void {
    this.kept.delete(key); // and add it as the newest
    this.kept.add(key);
    const [oldest = ''] = this.kept;
    if (this.kept.size > capacity) this.kept.delete(oldest);
  }
}

function listPrefixes(model: string, prompt: readonly PromptPart[]): Prefix[] {
  let key = model;
  let chars = 0;
  return prompt.map(({ text, marked, chars: length }) => {
    key = createHash('sha1').update(key).update(text).digest('base64');
    chars += length;
    return { key, tokens: tokensIn(chars), marked };
  });
}

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
