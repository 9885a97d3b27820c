import type { RunId } from '@rondo/contract';

/** Try again later: the network, a database that restarts, a deploy. */
export class TransientError extends Error {
  override readonly name: string = 'TransientError';
}

/** Trying again cannot help. Ends the run with this code, or becomes a 4xx problem at the edge. */
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

/** Another worker holds this run now. Leave quietly: the run is in good hands (I3). */
export class ClaimLostError extends Error {
  override readonly name = 'ClaimLostError';

  constructor(readonly runId: string) {
    super(`The claim on ${runId} was lost`);
  }
}

/** The run was told to stop before it could end otherwise. The holder must end it as stopped (I7). */
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
 * What a run would go on from could not be read: too large, or not what was written. The try was counted, and the run is
 * due again.
 */
export class UnreadableRunError extends Error {
  override readonly name = 'UnreadableRunError';

  constructor(
    readonly runId: RunId,
    /** Claims in a row that brought the run no further, this one included. */
    readonly fruitlessClaims: number,
    options: ErrorOptions,
  ) {
    super(`${runId} could not be read`, options);
  }
}

export interface StopRequest {
  readonly requestedAt: string;
  readonly reason: string | null;
}
