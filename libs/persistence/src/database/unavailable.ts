import { z } from 'zod';

const codes = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH'],
  ...['ENOTFOUND', 'EAI_AGAIN'],
  ...['P1001', 'P1002', 'P1017', 'P2024'],
  ...['57P01', '57P02', '57P03', '57P04', '57P05'],
  '25006', // it accepts no writes: a replica, or a primary that hands over
  ...['57014', '55P03', '40P01', '25P03'], // a statement, a lock, a deadlock or a transaction that took too long
]);

/** Connections that broke (08), and connections, memory or disk that ran out (53). */
const classes = /^(08|53)...$/;

/** Messages of driver errors that have no code. */
const messages =
  /^(Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error)/;

/**
 * True when the database is unavailable, out of resources or too slow, so that a later retry can succeed. Whether the
 * statement took effect is not known.
 */
export function isDatabaseUnavailable(error: unknown): boolean {
  for (let cause = failure.safeParse(error).data; cause; cause = failure.safeParse(cause.cause).data) {
    if (messages.test(cause.message) || isUnavailableCode(cause.code) || isUnavailableCode(cause.errorCode))
      return true;
  }
  return false;
}

const isUnavailableCode = (code: unknown): boolean =>
  typeof code === 'string' && (codes.has(code) || classes.test(code));

/** Drivers set `code`; Prisma sets `errorCode` when it fails to start. */
const failure = z.object({
  message: z.string(),
  code: z.unknown().optional(),
  errorCode: z.unknown().optional(),
  cause: z.unknown().optional(),
});
