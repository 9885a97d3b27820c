import type { Client, Pool, PoolClient } from 'pg';

/**
 * Ends connections of a pool that are checked out for longer than any use may take: their server is gone, and TCP may take
 * 15 minutes to notice. Their queries reject because the connection was terminated.
 *
 * Replaces `query_timeout`, which costs a timer per statement.
 */
export class SilentConnections {
  private readonly checkedOutAt = new Map<PoolClient, number>();
  private readonly timer: NodeJS.Timeout;

  constructor(
    pool: Pool,
    private readonly limitMs: number,
  ) {
    pool.on('acquire', (client) => this.checkedOutAt.set(client, performance.now()));
    pool.on('release', (_error, client) => this.checkedOutAt.delete(client));
    this.timer = setInterval(() => this.endSilent(), limitMs / 5).unref();
  }

  close(): void {
    clearInterval(this.timer);
  }

  private endSilent(): void {
    const latest = performance.now() - this.limitMs;
    for (const [client, since] of this.checkedOutAt) {
      if (since > latest) continue;
      this.checkedOutAt.delete(client);
      void (client as unknown as Client).end(); // the type of a pooled client lacks `end`
    }
  }
}
