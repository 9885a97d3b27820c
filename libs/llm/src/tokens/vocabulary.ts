import { createRequire } from 'node:module';
import { z } from 'zod';

export type VocabularyName = 'cl100k_base' | 'o200k_base';

/** What a tokenizer knows: how it cuts a text into words, and which bytes it joins first. */
export interface Vocabulary {
  readonly word: RegExp;
  /** From the bytes of a token, as a string with one character for each byte, to its rank. */
  readonly ranks: ReadonlyMap<string, number>;
}

const rankFile = z.object({ pat_str: z.string(), bpe_ranks: z.string() });

const tokensPerStep = 2000;

/**
 * Reads a vocabulary, in steps of a few milliseconds. The files come with js-tiktoken; its own reader stops a process
 * for 0.7 s and takes 150 MB (o200k), and its encoder is quadratic where a text repeats itself.
 */
export function* readVocabulary(name: VocabularyName): Generator<void, Vocabulary> {
  const file = rankFile.parse(createRequire(__filename)(`js-tiktoken/ranks/${name}`));
  const ranks = new Map<string, number>();
  for (const line of file.bpe_ranks.split('\n')) {
    const [marker = '', first = ''] = line.split(' ', 2);
    let rank = Number(first);
    for (const token of wordsOf(line, marker.length + first.length + 2)) {
      ranks.set(Buffer.from(token, 'base64').toString('latin1'), rank++);
      if (rank % tokensPerStep === 0) yield;
    }
  }
  return { word: new RegExp(file.pat_str, 'gu'), ranks };
}

/** One by one: a line has as many as 200,000. */
function* wordsOf(line: string, from: number): Generator<string, void> {
  for (let start = from; start < line.length;) {
    const space = line.indexOf(' ', start);
    const end = space < 0 ? line.length : space;
    yield line.slice(start, end);
    start = end + 1;
  }
}
