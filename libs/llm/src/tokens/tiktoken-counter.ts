import type { ImageSize } from '@rondo/contract';
import { type TokenCounter, splitModelName } from '@rondo/domain';
import { createRequire } from 'node:module';
import { z } from 'zod';

export type VocabularyName = 'cl100k_base' | 'o200k_base';

/** The data of a tokenizer: how it cuts a text into words, and in which order it joins bytes. */
interface Vocabulary {
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

/** Counts with OpenAI's public vocabularies. Each is loaded when a model first needs it, once per process. */
export class TiktokenCounter implements TokenCounter {
  private readonly steps = new ShortSteps();
  private readonly vocabularies = new Map<VocabularyName, Promise<Vocabulary>>();

  /**
   * Loads what this model needs, so that the first count does not wait for it: in a busy process that takes seconds, because
   * it never blocks the event loop.
   */
  async load(model: string): Promise<void> {
    await this.vocabulary(tokensOfModel(model).vocabulary);
  }

  async countTexts(texts: readonly string[], model: string): Promise<number[]> {
    const { vocabulary: name, factor }: ModelTokens = tokensOfModel(model);
    const vocabulary = await this.vocabulary(name);
    return this.steps.do(counts(texts, vocabulary, factor));
  }

  imageTokens(size: ImageSize | undefined, model: string): number {
    return imageTokens(size, model);
  }

  private vocabulary(name: VocabularyName): Promise<Vocabulary> {
    const known = this.vocabularies.get(name) ?? this.steps.do(readVocabulary(name));
    this.vocabularies.set(name, known);
    return known;
  }
}

function* counts(texts: readonly string[], vocabulary: Vocabulary, factor: number): Generator<void, number[]> {
  const all: number[] = [];
  for (const text of texts) {
    let count = 0;
    for (const slice of listSlices(text)) {
      count += countTokens(slice, vocabulary);
      yield;
    }
    all.push(Math.ceil(count * factor));
  }
  return all;
}

/** How long steps block the event loop at a time, apart from the last step's excess. */
const turnMs = 5;

interface Job {
  advance(): boolean;
}

/** Runs long computations in short steps, alternating between jobs, so that a small one does not wait for a large one. */
class ShortSteps {
  private readonly jobs: Job[] = [];

  do<Result>(steps: Iterator<unknown, Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      const advance = () => {
        try {
          const step = steps.next();
          if (step.done) resolve(step.value);
          return !step.done;
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)));
          return false;
        }
      };
      if (this.jobs.push({ advance }) === 1) setImmediate(() => this.takeTurn());
    });
  }

  private takeTurn(): void {
    const end = performance.now() + turnMs;
    do {
      const job = this.jobs.shift();
      if (job?.advance()) this.jobs.push(job);
    } while (this.jobs.length > 0 && performance.now() < end);
    if (this.jobs.length > 0) setImmediate(() => this.takeTurn());
  }
}

/** The longest slice that is counted at once; the worst case (one word of three-byte letters) takes 10 ms. */
export const maxSliceLength = 512;

/**
 * Divides a text into slices. It is cut before a single space between two words, where every tokenizer cuts as well, so
 * that the sum of the tokens is exact; a slice without such a space is cut anywhere, which may add a token.
 */
export function* listSlices(text: string): Generator<string, void> {
  let start = 0;
  while (text.length - start > maxSliceLength) {
    const end = cutBefore(text, start, start + maxSliceLength);
    yield text.slice(start, end);
    start = end;
  }
  yield text.slice(start);
}

function cutBefore(text: string, start: number, end: number): number {
  for (let at = end; at > start + maxSliceLength / 2; at--) {
    if (text[at] === ' ' && isVisible(text[at - 1]) && isVisible(text[at + 1])) return at;
  }
  const splitsPair = /[\uDC00-\uDFFF]/.test(text.charAt(end)) && /[\uD800-\uDBFF]/.test(text.charAt(end - 1));
  return splitsPair ? end - 1 : end;
}

const isVisible = (letter: string | undefined): boolean => letter !== undefined && /\S/.test(letter);

/** The number of tokens of a text. The time grows with the square of its longest word, so callers pass short slices. */
export function countTokens(text: string, { word, ranks }: Vocabulary): number {
  let count = 0;
  for (const letters of text.match(word) ?? []) {
    const bytes = isAscii.test(letters) ? letters : Buffer.from(letters).toString('latin1');
    count += ranks.has(bytes) ? 1 : countParts(bytes, ranks);
  }
  return count;
}

// eslint-disable-next-line no-control-regex -- all characters of one byte
const isAscii = /^[\x00-\x7f]*$/;

/** Byte pair encoding: repeatedly joins the two adjacent parts whose token has the lowest rank, until no pair is a token. */
function countParts(bytes: string, ranks: ReadonlyMap<string, number>): number {
  const starts = Array.from({ length: bytes.length + 1 }, (_, index) => index);
  const rankAt = (part: number) => ranks.get(bytes.slice(starts[part], starts[part + 2])) ?? Infinity;
  const joined = starts.slice(0, -2).map((_, part) => rankAt(part));

  for (;;) {
    const lowest = indexOfLowest(joined);
    if (lowest === undefined) return starts.length - 1;
    starts.splice(lowest + 1, 1);
    joined.splice(lowest, 1);
    if (lowest < joined.length) joined[lowest] = rankAt(lowest);
    if (lowest > 0) joined[lowest - 1] = rankAt(lowest - 1);
  }
}

function indexOfLowest(ranks: readonly number[]): number | undefined {
  let lowest = Infinity;
  let found: number | undefined;
  for (let index = 0; index < ranks.length; index++) {
    const rank = ranks[index] ?? Infinity;
    if (rank < lowest) [lowest, found] = [rank, index];
  }
  return found;
}

/** How the models of one family count tokens. */
interface ModelTokens {
  readonly vocabulary: VocabularyName;
  /** Multiplies the vocabulary's count, where the model's own vocabulary is not public. */
  readonly factor: number;
  imageTokens(size: ImageSize): number;
}

const tokensOfUnknownImage = 1500;

const families: readonly { readonly id: RegExp; readonly tokens: ModelTokens }[] = [
  {
    id: /^(?:gpt-4o|gpt-4\.[1-9]|gpt-[5-9]|chatgpt-|o\d)/,
    tokens: { vocabulary: 'o200k_base', factor: 1, imageTokens: openAiImage },
  },
  { id: /^gpt-/, tokens: { vocabulary: 'cl100k_base', factor: 1, imageTokens: openAiImage } },
  /** Claude counts about a fifth more tokens than cl100k in English and in code; its reported usage corrects the rest. */
  { id: /^claude-/, tokens: { vocabulary: 'cl100k_base', factor: 1.2, imageTokens: anthropicImage } },
];

const unknownModel: ModelTokens = { vocabulary: 'cl100k_base', factor: 1, imageTokens: () => tokensOfUnknownImage };

/** Finds the counter by the model's own name, so that it counts alike at every provider. */
function tokensOfModel(model: string): ModelTokens {
  const id = splitModelName(model).id.replace(/^.*\//, '');
  return families.find((family) => family.id.test(id))?.tokens ?? unknownModel;
}

export function imageTokens(size: ImageSize | undefined, model: string): number {
  return size ? tokensOfModel(model).imageTokens(size) : tokensOfUnknownImage;
}

/** OpenAI's formula: scaled to fit 2048 × 2048, then to 768 on the shorter side; 85 tokens, and 170 for each tile of 512. */
function openAiImage(size: ImageSize): number {
  const fitted = fit(size, 2048 / Math.max(size.width, size.height));
  const { width, height } = fit(fitted, 768 / Math.min(fitted.width, fitted.height));
  return 85 + 170 * Math.ceil(width / 512) * Math.ceil(height / 512);
}

/** Anthropic's formula: scaled to 1568 on the longer side; one token for 750 pixels, at most 1600. */
function anthropicImage(size: ImageSize): number {
  const { width, height } = fit(size, 1568 / Math.max(size.width, size.height));
  return Math.min(1600, Math.ceil((width * height) / 750));
}

/** Never scales up. */
const fit = ({ width, height }: ImageSize, scale: number): ImageSize =>
  scale < 1 ? { width: width * scale, height: height * scale } : { width, height };
