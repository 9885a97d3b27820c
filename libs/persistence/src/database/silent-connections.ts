import type { Client, Pool, PoolClient } from 'pg';

/**
 * Ends the connections of a pool that have been out for longer than anybody may need one: their server is gone, and TCP may
 * take a quarter of an hour to notice. Whoever waits is told that the connection was terminated.
 *
 * A `query_timeout` would make a timer for each statement.
 */
export class SilentConnections {
  private readonly outSince = new Map<PoolClient, number>();
  private readonly timer: NodeJS.Timeout;

  constructor(
    pool: Pool,
    private readonly limitMs: number,
  ) {
    pool.on('acquire', (client) => this.outSince.set(client, performance.now()));
    pool.on('release', (_error, client) => this.outSince.delete(client));
    this.timer = setInterval(() => this.endSilent(), limitMs / 5).unref();
  }

  close(): void {
    clearInterval(this.timer);
  }

  private endSilent(): void {
    const latest = performance.now() - this.limitMs;
    for (const [client, since] of this.outSince) {
      if (since > latest) continue;
      this.outSince.delete(client);
      void (client as unknown as Client).end(); // what a pool lends is a client, though its type hides that
    }
  }
}
