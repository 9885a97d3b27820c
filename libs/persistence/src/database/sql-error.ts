import { DatabaseError } from 'pg';

/** Bad data, constraints, deadlocks, locks, limits of size and memory, and what Postgres calls internal. */
const refusals = ['22', '23', '40', '53', '54', '55', 'XX'];
const tooManyConnections = '53300';
const cutShort = '57014';

/** `statement_timeout`, or a cancel request. */
export const tookTooLong = (error: unknown): boolean => error instanceof DatabaseError && error.code === cutShort;

/**
 * Postgres answered that it did not carry the statement out, so nothing of it was kept. After a lost connection, by
 * contrast, that is not known.
 */
export const wasRefused = (error: unknown): boolean =>
  tookTooLong(error) ||
  (error instanceof DatabaseError &&
    error.code !== tooManyConnections &&
    refusals.includes(error.code?.slice(0, 2) ?? ''));

const outOfMemory = '53200';

/** The statement asked for more than Postgres can give, or for what it cannot read. Asked again, it is refused again. */
export const isAtFault = (error: unknown): boolean =>
  error instanceof DatabaseError && (error.code === outOfMemory || /^(22|54|XX)/.test(error.code ?? ''));

/** It was prepared for tables that have other columns by now. Nothing was done. */
export const isOutdated = (error: unknown): boolean =>
  error instanceof DatabaseError && error.code === '0A000' && error.routine === 'RevalidateCachedQuery';

export const violates = (error: unknown, constraint: string): boolean =>
  error instanceof DatabaseError && error.constraint === constraint;
