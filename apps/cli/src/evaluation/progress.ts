import type { Terminal } from '../terminal';
import { toDollars } from '../dollars';
import { countNoun } from './summary';
import { appendFileSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/** Something that is over. */
export interface Step {
  readonly name: string;
  readonly outcome: string;
  /** Null where it is not known. */
  readonly costUsd: number | null;
  /** Is said also where there is a bar. */
  readonly isProblem: boolean;
}

interface ProgressOptions {
  /** How many steps are in progress at a time. */
  readonly concurrency: number;
  /** Only problems are said. */
  readonly isQuiet?: boolean | undefined;
  /** Gets a line for each step, whatever else is shown. */
  readonly log?: ((line: string) => void) | undefined;
}

const barWidth = 24;

/**
 * How far the work of this process is: a bar on a terminal, which moves every second, and a line for each step elsewhere. With the
 * cost so far, that of everything, and the time that is left.
 */
export class Progress {
  private done = 0;
  private problems = 0;
  private priced = 0;
  private costUsd = 0;
  private readonly since = Date.now();
  private readonly timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly terminal: Terminal,
    private readonly total: number,
    private readonly options: ProgressOptions,
  ) {
    if (!terminal.hasStatus || total === 0 || options.isQuiet) return;
    terminal.status(this.bar());
    this.timer = setInterval(() => terminal.status(this.bar()), 1_000).unref();
  }

  showResult({ name, outcome, costUsd, isProblem }: Step): void {
    this.done += 1;
    if (isProblem) this.problems += 1;
    if (costUsd !== null) {
      this.priced += 1;
      this.costUsd += costUsd;
    }
    const line = `${name}: ${outcome}`;
    const whole = [`${this.done}/${this.total} ${line}`, ...this.sums()].join(' · ');
    this.options.log?.(whole);
    if (!this.terminal.hasStatus && !this.options.isQuiet) this.terminal.note(whole);
    else if (isProblem) this.terminal.note(line, 'yellow');
    this.refresh();
  }

  end(): void {
    clearInterval(this.timer);
    this.terminal.status('');
  }

  private refresh(): void {
    if (this.timer) this.terminal.status(this.bar());
  }

  private bar(): string {
    const filled = Math.round((this.done / this.total) * barWidth);
    const problems = this.problems === 0 ? [] : [countNoun(this.problems, 'problem')];
    const count = `${'█'.repeat(filled)}${'░'.repeat(barWidth - filled)} ${this.done}/${this.total}`;
    return [count, ...problems, `${durationText(Date.now() - this.since)} so far`, ...this.sums()].join(' · ');
  }

  private sums(): string[] {
    const { done, total, priced, costUsd } = this;
    const average = costUsd / priced;
    const inAll = done < total ? `, about $${(average * total).toFixed(2)} in all` : '';
    const cost = priced === 0 ? [] : [`${toDollars(costUsd)}${inAll}`];
    if (done === total || done < this.options.concurrency || done === 0) return cost; // too early to say when it will be over
    return [...cost, `about ${durationText(((Date.now() - this.since) / done) * (total - done))} left`];
  }
}

/** In the two largest units. */
export function durationText(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Adds lines with their times to a text file, which need not exist. An error of a model may have several lines; here it has one. */
export function openTaskLog(path: string): (line: string) => void {
  mkdirSync(dirname(path), { recursive: true });
  appendFileSync(path, ''); // a file that cannot be written to is refused before the first task
  return (line) => appendFileSync(path, `${new Date().toISOString()} ${line.replaceAll(/\s+/g, ' ')}\n`);
}
