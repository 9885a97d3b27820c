import { wasRefused } from './sql-error';

/** Bounds one statement; what is above it goes with the next. */
const mostAtOnce = 64;

interface Waiting<Question, Answer> {
  readonly question: Question;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * One statement for what many ask. Questions of one turn of the event loop, and those that come while a statement is
 * under way, leave together in the next one: a busy process pays for one commit where many runs begin, and a quiet one
 * waits for nobody. A question never joins a statement that has begun.
 */
export class Together<Question, Answer> {
  private waiting: Waiting<Question, Answer>[] = [];
  private isAsking = false;

  /** `ask` gives one answer to each question, in their order. */
  constructor(private readonly ask: (questions: readonly Question[]) => Promise<readonly Answer[]>) {}

  of(question: Question): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ question, resolve, reject });
      if (this.isAsking) return;
      this.isAsking = true;
      setImmediate(() => void this.drain());
    });
  }

  private async drain(): Promise<void> {
    while (this.waiting.length > 0) await this.askGroup(this.waiting.splice(0, mostAtOnce));
    this.isAsking = false;
  }

  /** One question that Postgres refuses must not cost the others their answer: each is then asked alone. */
  private async askGroup(group: readonly Waiting<Question, Answer>[]): Promise<void> {
    try {
      const answers = await this.ask(group.map(({ question }) => question));
      for (const [index, { resolve }] of group.entries()) resolve(answers[index] as Answer); // one for each
    } catch (error) {
      if (group.length > 1 && wasRefused(error)) for (const waiting of group) await this.askGroup([waiting]);
      else for (const { reject } of group) reject(error);
    }
  }
}
