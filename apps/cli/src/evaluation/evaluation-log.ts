import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { UsageError } from '../command';
import { appendLine, replaceLines, wholeLines } from '../durable-file';

/** How the lines of a file are read. */
export interface EntryFormat<Entry> {
  /** Undefined for a line that was not written to its end. */
  readonly read: (line: string) => Entry | undefined;
  /** Of what was asked: unique in the file. */
  readonly toId: (entry: Entry) => string;
}

/** The newest attempt at a task. Without a run, it is not known whether the gateway has got the request. */
export interface Attempt {
  /** Of what is asked, as `toId` says. */
  readonly task_id: string;
  readonly attempt: number;
  readonly run_id: string | null;
}

interface Header {
  readonly evaluation: string;
  /** What runs are started with. */
  readonly settings: string;
}

/**
 * The two files of an evaluation: `NAME.jsonl` with a line for each task that is over, and `NAME.jsonl.attempts`, which knows
 * a run before anything waits for it. A runner that is killed at any moment and started again therefore waits for the runs of
 * the one before; only a request without an answer is sent again, with its idempotency key.
 */
export class EvaluationLog<Result> {
  private readonly attempts = new Map<string, Attempt>();
  private readonly done = new Map<string, Result>();
  private readonly evaluation: string;

  private constructor(
    readonly path: string,
    settings: string,
    private readonly format: EntryFormat<Result>,
  ) {
    const [header, ...attempts] = wholeLines(this.attemptsPath).map((line) => JSON.parse(line) as unknown);
    for (const attempt of attempts as Attempt[]) this.attempts.set(attempt.task_id, attempt); // the program's own file
    for (const line of wholeLines(path)) {
      const result = format.read(line);
      if (result) this.done.set(format.toId(result), result);
    }
    this.evaluation = this.begin(header as Header | undefined, settings);
  }

  static open<Result>(
    path: string,
    settings: Readonly<Record<string, unknown>>,
    format: EntryFormat<Result>,
  ): EvaluationLog<Result> {
    mkdirSync(dirname(path), { recursive: true });
    return new EvaluationLog(path, JSON.stringify(settings), format);
  }

  private get attemptsPath(): string {
    return `${this.path}.attempts`;
  }

  private begin(header: Header | undefined, settings: string): string {
    if (header && header.settings !== settings)
      throw new UsageError(
        `${this.path} was begun with other settings: ${header.settings}. Give the same settings, another --name, or move the file away.`,
      );
    const first = header ?? { evaluation: randomUUID(), settings };
    replaceLines(
      this.attemptsPath,
      [first, ...this.attempts.values()].map((line) => JSON.stringify(line)),
    );
    replaceLines(
      this.path,
      [...this.done.values()].map((result) => JSON.stringify(result)),
    );
    return first.evaluation;
  }

  get results(): readonly Result[] {
    return [...this.done.values()];
  }

  isDone(taskId: string): boolean {
    return this.done.has(taskId);
  }

  /** The attempt to go on with: an unfinished one, or the first. */
  toAttempt(taskId: string): Attempt {
    return this.attempts.get(taskId) ?? { task_id: taskId, attempt: 1, run_id: null };
  }

  /** The same for every request of this attempt, and for no other. */
  toKey({ task_id: taskId, attempt }: Attempt): string {
    return `eval-${this.evaluation}-${attempt}-${Buffer.from(taskId).toString('base64url')}`;
  }

  recordStart(attempt: Attempt, runId: string): void {
    this.record({ ...attempt, run_id: runId });
  }

  recordResult(result: Result): void {
    this.done.set(this.format.toId(result), result);
    appendLine(this.path, result);
  }

  /** Forgets these results. Each of their tasks first gets a new attempt, so that a crash loses none. */
  askAgain(isWanted: (result: Result) => boolean): void {
    const failed = this.results.filter(isWanted).map(this.format.toId);
    for (const id of failed) {
      this.record({ task_id: id, attempt: this.toAttempt(id).attempt + 1, run_id: null });
      this.done.delete(id);
    }
    if (failed.length > 0)
      replaceLines(
        this.path,
        this.results.map((result) => JSON.stringify(result)),
      );
  }

  private record(attempt: Attempt): void {
    this.attempts.set(attempt.task_id, attempt);
    appendLine(this.attemptsPath, attempt);
  }
}
