import { DatabaseError } from 'pg';

/**
 * The statement itself was at fault (bad data, a constraint, a deadlock), so nothing of it was kept. After a lost
 * connection, by contrast, nobody knows.
 */
export const wasRefused = (error: unknown): boolean =>
  error instanceof DatabaseError && ['22', '23', '40'].includes(error.code?.slice(0, 2) ?? '');

export const violates = (error: unknown, constraint: string): boolean =>
  error instanceof DatabaseError && error.constraint === constraint;
