import type { RunId } from '@rondo/contract';

/** A retry may succeed: the network failed, a database restarts, a service is deployed. */
export class TransientError extends Error {
  override readonly name: string = 'TransientError';
}

/** A retry cannot succeed. Ends the run with this code, or becomes a 4xx problem in the API. */
export class TerminalError extends Error {
  override readonly name: string = 'TerminalError';

  constructor(
    readonly code: string,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** Another worker holds this run now. Leave without an error: that worker continues the run (I3). */
export class ClaimLostError extends Error {
  override readonly name = 'ClaimLostError';

  constructor(readonly runId: string) {
    super(`The claim on ${runId} was lost`);
  }
}

/** A stop was requested before the run could end otherwise. The holder must end it as stopped (I7). */
export class StopPendingError extends Error {
  override readonly name = 'StopPendingError';

  constructor(
    readonly runId: string,
    readonly stop: StopRequest,
  ) {
    super(`${runId} was told to stop`);
  }
}

/**
 * The run got a higher budget, or a message, before it could be parked or ended without; or a message was withdrawn before it
 * could be read. The holder must claim it again.
 */
export class RunChangedError extends Error {
  override readonly name = 'RunChangedError';

  constructor(readonly runId: string) {
    super(`${runId} was changed from outside`);
  }
}

/** The store refused only that the run ends or parks; its holder must claim it again and go on from the log. */
export const isOverruled = (error: unknown): error is StopPendingError | RunChangedError =>
  error instanceof StopPendingError || error instanceof RunChangedError;

/** The log of a claimed run could not be read: it is too large, or invalid. The claim counts as fruitless, and the run is due again. */
export class UnreadableRunError extends Error {
  override readonly name = 'UnreadableRunError';

  constructor(
    readonly runId: RunId,
    /** Claims in a row without progress, this one included. */
    readonly fruitlessClaims: number,
    options: ErrorOptions,
  ) {
    super(`${runId} could not be read`, options);
  }
}

/** Only a newer version can continue the run. Nothing was counted, and the run is due again, behind the others of its account. */
export class NewerRunError extends Error {
  override readonly name = 'NewerRunError';

  constructor(
    readonly runId: RunId,
    readonly unknown: readonly string[],
    /** A stop was requested. */
    readonly isStopping: boolean,
  ) {
    super(`${runId} is left to a newer version, which knows its ${unknown.slice(0, 5).join(', ')}`);
  }
}

export interface StopRequest {
  readonly requestedAt: string;
  readonly reason: string | null;
  /** What went wrong, in the words of who stops the run: it ends as failed. */
  readonly error?: string | undefined;
}
