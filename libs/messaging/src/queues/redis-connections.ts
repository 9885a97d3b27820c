/** For those who add jobs: a request must not hang because Redis does (R11). */
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
 * For those who take jobs: blocking commands wait as long as it takes, through restarts of Redis too. A connection that
 * has been asked something and says nothing for longer than any job is waited for is half-open; it is made anew (R11).
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
