import { z } from 'zod';

const codes = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH'],
  ...['ENOTFOUND', 'EAI_AGAIN'],
  ...['P1001', 'P1002', 'P1017', 'P2024'],
  ...['57P01', '57P02', '57P03'],
  ...['57014', '55P03', '40P01', '25P03'], // a statement, a lock, a deadlock or a transaction that took too long
]);

/** Connections that broke (08), and connections, memory or disk that ran out (53). */
const classes = /^(08|53)...$/;

/** What the driver and its pool say where they give no code. */
const silent =
  /^(Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error)/;

/**
 * The database is away or has no room, or does not answer in time: trying again later can help. Whether the statement was done is not
 * known.
 */
export function isDatabaseUnavailable(error: unknown): boolean {
  for (let cause = failure.safeParse(error).data; cause; cause = failure.safeParse(cause.cause).data) {
    if (silent.test(cause.message) || meansAway(cause.code) || meansAway(cause.errorCode)) return true;
  }
  return false;
}

const meansAway = (code: unknown): boolean => typeof code === 'string' && (codes.has(code) || classes.test(code));

/** Drivers say `code`, Prisma `errorCode` when it starts. */
const failure = z.object({
  message: z.string(),
  code: z.unknown().optional(),
  errorCode: z.unknown().optional(),
  cause: z.unknown().optional(),
});
