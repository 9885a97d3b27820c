import type { AgentResult, Problem, Question, Run, RunFailure, RunStopped } from './generated/api.ts';

/** What `run.stopped` says about the end of everything that was running. */
export type StopReceipt = RunStopped['data']['receipt'];

/** The gateway refused a request. All fields of its RFC 9457 problem are in `problem`. */
export class RondoError extends Error {
  override readonly name = 'RondoError';

  constructor(
    readonly problem: Problem,
    /** After so many seconds the request may succeed. */
    readonly retryAfterS: number | undefined = problem.retry_after_s,
  ) {
    super(problem.detail ?? problem.title);
  }

  get status(): number {
    return this.problem.status;
  }

  get code(): string {
    return this.problem.code;
  }

  /** Which fields of the request are wrong, and why. */
  get errors(): readonly { readonly field: string; readonly message: string }[] {
    return this.problem.errors ?? [];
  }
}

/** No usable answer arrived: the gateway is not there, or the connection was cut. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
}

/** The gateway sent facts that do not follow each other. It never happens to a log that is whole. */
export class MissingFactsError extends Error {
  override readonly name = 'MissingFactsError';

  constructor(
    readonly expectedSeq: number,
    readonly receivedSeq: number,
  ) {
    super(`Fact ${expectedSeq} is missing: fact ${receivedSeq} arrived.`);
  }
}

export class RunFailedError extends Error {
  override readonly name = 'RunFailedError';

  constructor(
    readonly run: Run,
    readonly failure: RunFailure,
    readonly result: AgentResult,
  ) {
    super(failure.message);
  }
}

export class RunStoppedError extends Error {
  override readonly name = 'RunStoppedError';

  constructor(
    readonly run: Run,
    readonly receipt: StopReceipt | null,
  ) {
    super(`${run.id} was stopped.`);
  }
}

/** The run waits for a person. `question` is what it asks. */
export class RunWaitingError extends Error {
  override readonly name = 'RunWaitingError';

  constructor(
    readonly run: Run,
    readonly question: Question | undefined,
  ) {
    super(question?.text ?? `${run.id} waits for a person.`);
  }
}
