/** For processes that add jobs: a request must not hang while Redis does. */
export const producerConnection = (url: string) => ({
  url,
  connectTimeout: 5_000,
  commandTimeout: 5_000,
  socketTimeout: 6_000,
  maxRetriesPerRequest: 1,
  keepAlive: 10_000,
  disconnectTimeout: 300,
  retryStrategy,
});

/**
 * For workers: blocking commands wait without limit, through restarts of Redis too. A connection on which Redis does not
 * answer for longer than any blocking command lasts is half-open, which raises no error by itself; it is replaced.
 */
export const workerConnection = (url: string) => ({
  url,
  connectTimeout: 5_000,
  maxRetriesPerRequest: null,
  socketTimeout: 15_000,
  keepAlive: 10_000,
  disconnectTimeout: 300,
  retryStrategy,
});

const retryStrategy = (attempt: number): number => Math.min(100 * 2 ** Math.min(attempt, 5), 2_000);
