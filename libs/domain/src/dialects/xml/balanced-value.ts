import type { Reading, TextSource } from '../text-source';
import { WordTrie } from '../word-trie';
import { OpenTag } from './open-tag';
import { type RawValue, readRawValue } from './raw-value';

/** The content of an element after its opening tag. It may contain elements of the same name: it ends at the balancing tag. */
export function readBalancedValue(source: TextSource, name: string): Reading<RawValue<true>> {
  return readRawValue(source, (keep) => readToEnd(source, name, keep));
}

function* readToEnd(source: TextSource, name: string, keep: (text: string) => void): Reading<true | undefined> {
  const opening = `<${name}`;
  const closing = `</${name}>`;
  const words = new WordTrie([opening, closing]);
  let depth = 1;

  for (;;) {
    const word = yield* source.passUntil(words, keep);
    if (word === undefined) return undefined;
    source.take(word.length);
    if (word === closing) depth -= 1;
    if (depth === 0) return true;

    keep(word);
    if (word === closing) continue;
    const tag = yield* OpenTag.read(source);
    keep(tag.text);
    if (tag.state === 'closed' && !tag.isSelfClosing) depth += 1;
  }
}

/** Text that could open or close an element of this name. */
export const looksLikeTag = (value: string, name: string): boolean =>
  value.includes(`<${name}`) || value.includes(`</${name}`);
