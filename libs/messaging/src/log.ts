/** What this library logs with; a pino logger is one. */
export interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

const everyMs = 10_000;

/**
 * Reports the first of several failures, and then at most one in ten seconds with the number of those that were not reported: a
 * server that refuses everything must not fill the log.
 */
export function seldom(report: (error: unknown, about: { readonly unreported: number }) => void) {
  let reportedAt = -Infinity;
  let unreported = 0;
  return (error: unknown): void => {
    if (performance.now() - reportedAt < everyMs) {
      unreported += 1;
      return;
    }
    report(error, { unreported });
    reportedAt = performance.now();
    unreported = 0;
  };
}
