import { createRequire } from 'node:module';
import { z } from 'zod';

export type VocabularyName = 'cl100k_base' | 'o200k_base';

/** The data of a tokenizer: how it cuts a text into words, and in which order it joins bytes. */
export interface Vocabulary {
  readonly word: RegExp;
  /** The rank of each token. A token's bytes are a string with one character for each byte. */
  readonly ranks: ReadonlyMap<string, number>;
}

const rankFile = z.object({ pat_str: z.string(), bpe_ranks: z.string() });

const tokensPerStep = 2000;

/**
 * Loads a vocabulary in steps of a few milliseconds. The files come with js-tiktoken; its own loader blocks a process for
 * 0.7 s and takes 150 MB (o200k), and its encoder is quadratic in repetitive text.
 */
export function* readVocabulary(name: VocabularyName): Generator<void, Vocabulary> {
  const file = rankFile.parse(createRequire(__filename)(`js-tiktoken/ranks/${name}`));
  const ranks = new Map<string, number>();
  for (const line of file.bpe_ranks.split('\n')) {
    const [marker = '', first = ''] = line.split(' ', 2);
    let rank = Number(first);
    for (const token of listWords(line, marker.length + first.length + 2)) {
      ranks.set(Buffer.from(token, 'base64').toString('latin1'), rank++);
      if (rank % tokensPerStep === 0) yield;
    }
  }
  return { word: new RegExp(file.pat_str, 'gu'), ranks };
}

/** A generator, because a line has up to 200,000 words. */
function* listWords(line: string, from: number): Generator<string, void> {
  for (let start = from; start < line.length;) {
    const space = line.indexOf(' ', start);
    const end = space < 0 ? line.length : space;
    yield line.slice(start, end);
    start = end + 1;
  }
}
