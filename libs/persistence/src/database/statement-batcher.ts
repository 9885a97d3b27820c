import { setImmediate as turnOver } from 'node:timers/promises';
import { tookTooLong, wasRefused } from './sql-error';

/** Bounds one statement; what is above it goes with the next. */
const mostAtOnce = 64;
/** A question that is heavier than that goes alone. */
const heaviest = 16 * 1024 * 1024;
/** After so many that each took too long alone, it is the database that is slow, and not they. */
const mostSlow = 2;

interface Waiting<Question, Answer> {
  readonly question: Question;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

interface Grouping<Question> {
  /** Questions of one subject follow one another: no statement holds two of them. Unless given, any may go together. */
  readonly subjectOf?: (question: Question) => unknown;
  /** About how many bytes it adds to the statement. Unless given, they are few. */
  readonly weightOf?: (question: Question) => number;
  /** The first one leaves without those that come later in its turn of the event loop. */
  readonly startsAtOnce?: boolean;
}

/**
 * One statement for what many ask. Questions of one turn of the event loop, and those that come while a statement is
 * under way, leave together in the next one: a busy process pays for one commit where many runs begin, and a quiet one
 * waits for nobody. A question never joins a statement that has begun.
 */
export class StatementBatcher<Question, Answer> {
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

  /** In order of arrival, but for what is too heavy for this one. */
  private nextGroup(): Waiting<Question, Answer>[] {
    const { subjectOf, weightOf } = this.grouping;
    const subjects = new Set<unknown>();
    const group: Waiting<Question, Answer>[] = [];
    const later: Waiting<Question, Answer>[] = [];
    let bytes = 0;
    for (const waiting of this.waiting) {
      const subject = subjectOf?.(waiting.question);
      const weight = weightOf?.(waiting.question) ?? 0;
      const fits = group.length === 0 || (group.length < mostAtOnce && bytes + weight <= heaviest);
      if (fits && !subjects.has(subject)) {
        group.push(waiting);
        bytes += weight;
      } else later.push(waiting);
      if (subject !== undefined) subjects.add(subject);
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
      if (group.length > 1 && wasRefused(error)) await this.askEach(group);
      else for (const { reject } of group) reject(error);
    }
  }

  /** Two that are slow alone may be two that are locked; more of them would hold up everybody behind them. */
  private async askEach(group: readonly Waiting<Question, Answer>[]): Promise<void> {
    let slow = 0;
    for (const [index, { question, resolve, reject }] of group.entries()) {
      try {
        const [answer] = await this.ask([question]);
        resolve(answer as Answer); // one for each
      } catch (error) {
        reject(error);
        if (tookTooLong(error)) slow += 1;
        if (slow < mostSlow) continue;
        for (const later of group.slice(index + 1)) later.reject(error);
        return;
      }
    }
  }
}
