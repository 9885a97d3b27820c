import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Sql } from './sql';

const keyOf = (owner: string): string => `hashtextextended(${owner}, 0)`;

/** Shared, so that no two names can ever wait for each other. */
export const takeLock = `select pg_advisory_lock_shared(${keyOf('$1')}), pg_backend_pid() as pid`;
export const announce = `
with bygone as (delete from presences where postgres_since <> pg_postmaster_start_time() and owner <> $1)
insert into presences (owner) values ($1)
on conflict (owner) do update set postgres_since = default where presences.postgres_since <> excluded.postgres_since`;
const withdraw = `delete from presences where owner = $1`;

/** Of a row of `presences`: since Postgres was started there was a lock of this name, and no connection holds it now. */
export const isDead = `postgres_since = pg_postmaster_start_time() and not exists (
  select from pg_locks
  where locktype = 'advisory' and objsubid = 1
    and database = (select oid from pg_database where datname = current_database())
    and (classid::bigint << 32 | objid::bigint) = ${keyOf('owner')}
)`;

const againAfterMs = 500;
/** A connection that nobody uses would break without anybody noticing. */
const announceEveryMs = 5_000;
const patienceMs = 2_000;

const settings = {
  connectionTimeoutMillis: patienceMs,
  query_timeout: patienceMs,
  /** A host that is lost says no goodbye: Postgres asks for it, and releases its lock after half a minute. */
  options: '-c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=4',
};

export interface LivenessLockParts {
  readonly url: string;
  /** Of leases, and of no other process, not even the one that this one replaces. */
  readonly owner: string;
  /** Over other connections. */
  readonly sql: Sql;
  readonly log?: { warn(fields: object, text: string): void } | undefined;
}

/**
 * Shows that this process lives, by a session lock on a connection of its own. However it dies, its kernel closes the
 * connection, Postgres releases the lock, and the reaper need not wait for the leases to run out.
 * A row says that the lock is held, and is the condition for missing it. It is there only while this process can keep
 * its word: not before the first lock, not when a new one cannot be had, never through a pooler, whose connections are
 * not ours. Without it leases decide, as they do where the connection outlives what the process can do.
 */
export class LivenessLock {
  private readonly leaving = new AbortController();
  private readonly kept: Promise<void>;

  constructor(private readonly parts: LivenessLockParts) {
    this.kept = this.keep();
  }

  /** Call it when no lease is held any more. A server that does not answer is not waited for. */
  async leave(): Promise<void> {
    this.leaving.abort();
    await Promise.race([this.kept, sleep(patienceMs, undefined, { ref: false })]);
  }

  /** A connection that breaks is replaced at once; others look twice, a second apart, before they believe in a death. */
  private async keep(): Promise<void> {
    let isKnown = false;
    while (!this.leaving.signal.aborted) {
      if (await this.show()) {
        isKnown = true;
        continue;
      }
      if (isKnown) isKnown = !(await this.withdraw());
      await this.pause(againAfterMs);
    }
  }

  private withdraw(): Promise<boolean> {
    return this.parts.sql.query(withdraw, [this.parts.owner]).then(
      () => true,
      () => false, // Postgres is away
    );
  }

  /** Until the connection ends. Resolves with whether the lock was ever held on it. */
  private async show(): Promise<boolean> {
    const { url, owner } = this.parts;
    const client = new pg.Client({ connectionString: url, ...settings });
    client.on('error', () => {}); // `end` follows
    const ended = new Promise((resolve) => client.once('end', resolve));
    let isShown = false;
    try {
      await client.connect();
      if (!(await this.hold(client))) return false;
      while (!this.leaving.signal.aborted) {
        await client.query(announce, [owner]);
        isShown = true;
        await Promise.race([ended, this.pause(announceEveryMs)]);
      }
      await client.query(withdraw, [owner]);
    } catch {
      return isShown;
    } finally {
      await client.end().catch(() => undefined);
    }
    return isShown;
  }

  /** A pooler names another backend than the one that answers, and would keep the lock for us when we are dead. */
  private async hold(client: pg.Client): Promise<boolean> {
    const { rows } = await client.query<{ pid: number }>(takeLock, [this.parts.owner]);
    if ('processID' in client && client.processID === rows[0]?.pid) return true;

    this.parts.log?.warn({}, 'Postgres was reached through a pooler: deaths are noticed by leases only');
    this.leaving.abort();
    return false;
  }

  private pause(ms: number): Promise<void> {
    return sleep(ms, undefined, { signal: this.leaving.signal, ref: false }).catch(() => undefined); // leaving
  }
}
