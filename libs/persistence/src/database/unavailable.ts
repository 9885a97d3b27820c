import { z } from 'zod';

const codes = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH'],
  ...['ENOTFOUND', 'EAI_AGAIN'],
  ...['P1001', 'P1002', 'P1017', 'P2024'],
  ...['57P01', '57P02', '57P03', '57P04', '57P05'],
  '25006', // it accepts no writes: a replica, or a primary that hands over
  ...['57014', '55P03', '25P03', '25P04'], // a statement, a lock or a transaction that took too long
  ...['40001', '40P01'], // a transaction that another one was in the way of
  '3D000', // the database does not exist, as while it is restored
]);

/** Connections that broke (08), a login that is refused, as while its password changes (28), and connections, memory or disk that ran out (53). */
const classes = /^(08|28|53)...$/;

/** Messages of driver errors that have no code. */
const messages =
  /^(Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error)/;

/**
 * True when the database is unavailable, out of resources or too slow, so that a later retry can succeed. Whether the
 * statement took effect is not known.
 */
export function isDatabaseUnavailable(error: unknown): boolean {
  for (let found = failure.safeParse(error).data; found; found = failure.safeParse(readCause(found)).data) {
    const { message, code, errorCode, originalCode } = found;
    if (messages.test(message) || [code, errorCode, originalCode].some(isUnavailableCode)) return true;
  }
  return false;
}

/** Prisma keeps what Postgres has answered in a field of its own, since its own codes name the kind of request. */
const readCause = ({ cause, meta }: Failure): unknown => cause ?? meta?.driverAdapterError;

const isUnavailableCode = (code: unknown): boolean =>
  typeof code === 'string' && (codes.has(code) || classes.test(code));

/** Drivers set `code`; Prisma sets `errorCode` when it fails to start, and `originalCode` to the code of Postgres. */
const failure = z.object({
  message: z.string().catch(''),
  code: z.unknown().optional(),
  errorCode: z.unknown().optional(),
  originalCode: z.unknown().optional(),
  cause: z.unknown().optional(),
  meta: z.object({ driverAdapterError: z.unknown() }).optional().catch(undefined),
});
type Failure = z.infer<typeof failure>;
