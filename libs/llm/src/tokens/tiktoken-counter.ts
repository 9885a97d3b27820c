import type { ImageSize } from '@rondo/contract';
import type { TokenCounter } from '@rondo/domain';
import { countTokens } from './byte-pairs';
import { type ModelTokens, imageTokens, tokensOfModel } from './model-tokens';
import { listSlices } from './text-slices';
import { type Vocabulary, type VocabularyName, readVocabulary } from './vocabulary';

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
