import { z } from 'zod';

const codes = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH'],
  ...['ENOTFOUND', 'EAI_AGAIN'],
  ...['P1001', 'P1002', 'P1017', 'P2024'],
  ...['57P01', '57P02', '57P03'],
]);

const connectionException = /^08...$/;

/** What the driver and its pool say where they give no code. */
const silent =
  /^(Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error)/;

/**
 * The database is away, or does not answer in time: trying again later can help. Whether the statement was done is not
 * known.
 */
export function isDatabaseUnavailable(error: unknown): boolean {
  for (let cause = failure.safeParse(error).data; cause; cause = failure.safeParse(cause.cause).data) {
    if (silent.test(cause.message) || meansAway(cause.code) || meansAway(cause.errorCode)) return true;
  }
  return false;
}

const meansAway = (code: unknown): boolean =>
  typeof code === 'string' && (codes.has(code) || connectionException.test(code));

/** Drivers say `code`, Prisma `errorCode` when it starts. */
const failure = z.object({
  message: z.string(),
  code: z.unknown().optional(),
  errorCode: z.unknown().optional(),
  cause: z.unknown().optional(),
});
