import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { UsageError } from '../command';
import { appendLine, replaceLines, wholeLines } from './durable-file';
import { type TaskResult, resultOf } from './result';

/** The newest attempt at a task. Without a run, it is not known whether the gateway has got the request. */
export interface Attempt {
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
export class EvaluationLog {
  private readonly attempts = new Map<string, Attempt>();
  private readonly done = new Map<string, TaskResult>();
  private readonly evaluation: string;

  private constructor(
    readonly path: string,
    settings: string,
  ) {
    const [header, ...attempts] = wholeLines(this.attemptsPath).map((line) => JSON.parse(line) as unknown);
    for (const attempt of attempts as Attempt[]) this.attempts.set(attempt.task_id, attempt); // the program's own file
    for (const line of wholeLines(path)) {
      const result = resultOf(line);
      if (result) this.done.set(result.task_id, result);
    }
    this.evaluation = this.begin(header as Header | undefined, settings);
  }

  static open(path: string, settings: Readonly<Record<string, unknown>>): EvaluationLog {
    mkdirSync(dirname(path), { recursive: true });
    return new EvaluationLog(path, JSON.stringify(settings));
  }

  private get attemptsPath(): string {
    return `${this.path}.attempts`;
  }

  private begin(header: Header | undefined, settings: string): string {
    if (header && header.settings !== settings)
      throw new UsageError(
        `${this.path} was begun with other settings: ${header.settings}. Give another --name, or the same settings.`,
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

  get results(): readonly TaskResult[] {
    return [...this.done.values()];
  }

  isDone(taskId: string): boolean {
    return this.done.has(taskId);
  }

  /** The attempt to go on with: an unfinished one, or the first. */
  attemptOf(taskId: string): Attempt {
    return this.attempts.get(taskId) ?? { task_id: taskId, attempt: 1, run_id: null };
  }

  /** The same for every request of this attempt, and for no other. */
  keyOf({ task_id: taskId, attempt }: Attempt): string {
    return `eval-${this.evaluation}-${attempt}-${Buffer.from(taskId).toString('base64url')}`;
  }

  started(attempt: Attempt, runId: string): void {
    this.record({ ...attempt, run_id: runId });
  }

  finished(result: TaskResult): void {
    this.done.set(result.task_id, result);
    appendLine(this.path, result);
  }

  /** Forgets the results that are errors. Each of their tasks first gets a new attempt, so that a crash loses none. */
  retryErrors(taskIds: ReadonlySet<string>): void {
    const failed = this.results.filter(({ task_id: id, agent_error: error }) => error !== null && taskIds.has(id));
    for (const { task_id: taskId } of failed) {
      this.record({ task_id: taskId, attempt: this.attemptOf(taskId).attempt + 1, run_id: null });
      this.done.delete(taskId);
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
