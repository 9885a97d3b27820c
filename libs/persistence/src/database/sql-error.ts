import { DatabaseError } from 'pg';

/** Bad data, constraints, deadlocks, locks, limits of size and memory, and what Postgres calls internal. */
const refusals = ['22', '23', '40', '53', '54', '55', 'XX'];
const tooManyConnections = '53300';
const cancelled = '57014';

/** `statement_timeout`, or a cancel request. */
export const tookTooLong = (error: unknown): boolean => error instanceof DatabaseError && error.code === cancelled;

/**
 * True when Postgres reported that the statement failed, so that nothing of it was stored. After a lost connection, by
 * contrast, that is not known.
 */
export const wasRefused = (error: unknown): boolean =>
  tookTooLong(error) ||
  (error instanceof DatabaseError &&
    error.code !== tooManyConnections &&
    refusals.includes(error.code?.slice(0, 2) ?? ''));

const outOfMemory = '53200';

/** True when the statement itself is at fault: too large, too complex or with invalid data. A retry fails again. */
export const isAtFault = (error: unknown): boolean =>
  error instanceof DatabaseError && (error.code === outOfMemory || /^(22|54|XX)/.test(error.code ?? ''));

/** True when the statement was prepared before columns of its tables changed. Nothing was executed. */
export const isOutdated = (error: unknown): boolean =>
  error instanceof DatabaseError && error.code === '0A000' && error.routine === 'RevalidateCachedQuery';

export const violates = (error: unknown, constraint: string): boolean =>
  error instanceof DatabaseError && error.constraint === constraint;

const readOnlyCode = '25006';

/** A replica, or a primary that hands over. */
export class ReadOnlyDatabase extends Error {
  readonly code = readOnlyCode;

  constructor() {
    super('The database accepts no writes.');
  }
}

/** Of the server's function that a replica refuses, whatever the language of its messages. */
const routineOfPrimaries = 'pg_current_wal_lsn';

/** True when the server accepts no writes now: it is a replica, or a primary that hands over. */
export const isReadOnly = (error: unknown): boolean =>
  error instanceof ReadOnlyDatabase ||
  (error instanceof DatabaseError &&
    (error.code === readOnlyCode || (error.code === '55000' && error.routine === routineOfPrimaries)));
