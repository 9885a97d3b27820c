import { setImmediate as turnOver } from 'node:timers/promises';
import { wasRefused } from './sql-error';

/** Bounds one statement; what is above it goes with the next. */
const mostAtOnce = 64;

interface Waiting<Question, Answer> {
  readonly question: Question;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

interface Grouping<Question> {
  /** Questions of one subject follow one another: no statement holds two of them. Unless given, any may go together. */
  readonly subjectOf?: (question: Question) => unknown;
  /** The first one leaves without those that come later in its turn of the event loop. */
  readonly startsAtOnce?: boolean;
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
  constructor(
    private readonly ask: (questions: readonly Question[]) => Promise<readonly Answer[]>,
    private readonly grouping: Grouping<Question> = {},
  ) {}

  of(question: Question): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ question, resolve, reject });
      if (this.isAsking) return;
      this.isAsking = true;
      if (this.grouping.startsAtOnce) void this.drain();
      else setImmediate(() => void this.drain());
    });
  }

  private async drain(): Promise<void> {
    while (this.waiting.length > 0) {
      await this.askGroup(this.nextGroup());
      await turnOver(); // what the answers lead to, and what came meanwhile, goes together
    }
    this.isAsking = false;
  }

  /** In order of arrival. */
  private nextGroup(): Waiting<Question, Answer>[] {
    const { subjectOf } = this.grouping;
    if (!subjectOf) return this.waiting.splice(0, mostAtOnce);

    const subjects = new Set<unknown>();
    const group: Waiting<Question, Answer>[] = [];
    const later: Waiting<Question, Answer>[] = [];
    for (const waiting of this.waiting) {
      const subject = subjectOf(waiting.question);
      if (group.length < mostAtOnce && !subjects.has(subject)) group.push(waiting);
      else later.push(waiting);
      subjects.add(subject);
    }
    this.waiting = later;
    return group;
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
