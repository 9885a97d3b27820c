import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { findBackend } from './configure-connection';
import type { Sql } from './sql';

const toKey = (owner: string): string => `hashtextextended(${owner}, 0)`;

/** Shared, so that two names with the same hash do not block each other. */
export const acquireLock = `select pg_advisory_lock_shared(${toKey('$1')}), pg_backend_pid() as pid`;
export const announce = `
with outdated as (delete from presences where postgres_since <> pg_postmaster_start_time() and owner <> $1)
insert into presences (owner) values ($1)
on conflict (owner) do update set postgres_since = default where presences.postgres_since <> excluded.postgres_since`;
const withdraw = `delete from presences where owner = $1`;

/** The condition on a row of `presences` that its owner held its lock since Postgres started, and no connection holds it now. */
export const isDead = `postgres_since = pg_postmaster_start_time() and not exists (
  select from pg_locks
  where locktype = 'advisory' and objsubid = 1
    and database = (select oid from pg_database where datname = current_database())
    and (classid::bigint << 32 | objid::bigint) = ${toKey('owner')}
)`;

const retryDelayMs = 500;
/** A periodic query, because a broken idle connection is noticed only when it is used. */
const announceIntervalMs = 5_000;
const timeoutMs = 2_000;

const settings = {
  connectionTimeoutMillis: timeoutMs,
  query_timeout: timeoutMs,
};
/** A lost host closes no connection: by TCP keepalives Postgres detects it and releases its lock after 30 s. */
const keepAlive = `select set_config('tcp_keepalives_idle', '10', false), set_config('tcp_keepalives_interval', '5', false),
  set_config('tcp_keepalives_count', '4', false)`;

interface LivenessLockParts {
  readonly url: string;
  /** The owner of this process's leases; unique to this process, its predecessor included. */
  readonly owner: string;
  /** Uses other connections than the lock's. */
  readonly sql: Sql;
}

/**
 * Holds a session lock on a dedicated connection while this process lives. However the process dies, its kernel closes the
 * connection, Postgres releases the lock, and the reaper need not wait for the leases to expire.
 * A row records that the lock is held; an owner without a row cannot count as dead. The row exists only while the lock can
 * be held: not before the first lock, and not while reconnecting fails. Without the row only leases decide, as they do for a
 * process that hangs while its connection stays open. A pooler shares connections, so that no lock can be held through
 * one: there heartbeats decide.
 */
export class LivenessLock {
  private readonly leaving = new AbortController();
  private readonly ended: Promise<void>;

  constructor(private readonly parts: LivenessLockParts) {
    this.ended = this.run();
  }

  /** Call it when no lease is held any more. Does not wait for a server that does not answer. */
  async release(): Promise<void> {
    this.leaving.abort();
    await Promise.race([this.ended, sleep(timeoutMs, undefined, { ref: false })]);
  }

  /**
   * Replaces a broken connection at once; reapers check twice, a second apart, before they count an owner as dead. One that does
   * not answer is kept until another one holds the lock, because Postgres, or this process, may only be slow.
   */
  private async run(): Promise<void> {
    const { signal } = this.leaving;
    let held: LockConnection | undefined;
    let isKnown = false;
    while (!signal.aborted) {
      const next = await LockConnection.open(this.parts);
      if (next instanceof LockConnection) {
        await held?.close();
        held = next;
        isKnown = true;
      } else if (next === 'pooled' || !(await held?.announce())) {
        if (isKnown) isKnown = !(await this.withdraw());
        if (next === 'pooled') return beatUntil(signal, this.parts);
        await pauseUntil(signal, retryDelayMs);
        continue;
      }
      await held?.announceUntil(signal);
    }
    await held?.leave();
  }

  private withdraw(): Promise<boolean> {
    return this.parts.sql.query(withdraw, [this.parts.owner]).then(
      () => true,
      () => false, // Postgres is unavailable
    );
  }
}

const pauseUntil = (leaving: AbortSignal, ms: number): Promise<void> =>
  sleep(ms, undefined, { signal: leaving, ref: false }).catch(() => undefined);

/** One connection that holds the lock, and has said so. */
class LockConnection {
  private readonly ended: Promise<unknown>;

  private constructor(
    private readonly client: pg.Client,
    private readonly owner: string,
  ) {
    this.ended = new Promise((resolve) => client.once('end', resolve));
  }

  static async open({ url, owner }: LivenessLockParts): Promise<LockConnection | 'failed' | 'pooled'> {
    const client = new pg.Client({ connectionString: url, ...settings });
    client.on('error', () => {}); // `end` follows
    const connection = new LockConnection(client, owner);
    const found = await connection.acquire().catch(() => 'failed' as const);
    if (found === 'direct' && (await connection.announce())) return connection;
    await connection.close();
    return found === 'direct' ? 'failed' : found;
  }

  /** A pooler reports another backend than the one that answers, and would hold the lock after this process died. */
  private async acquire(): Promise<'direct' | 'pooled'> {
    await this.client.connect();
    await this.client.query(keepAlive);
    const { rows } = await this.client.query<{ pid: number }>(acquireLock, [this.owner]);
    return findBackend(this.client) === rows[0]?.pid ? 'direct' : 'pooled';
  }

  /** Resolves when the connection does not answer any more, or when the signal is aborted. */
  async announceUntil(leaving: AbortSignal): Promise<void> {
    do await Promise.race([this.ended, pauseUntil(leaving, announceIntervalMs)]);
    while (!leaving.aborted && (await this.announce()));
  }

  /** Whether it answers. */
  announce(): Promise<boolean> {
    return this.ask(announce);
  }

  async leave(): Promise<void> {
    await this.ask(withdraw);
    await this.close();
  }

  async close(): Promise<void> {
    await this.client.end().catch(() => undefined);
  }

  private ask(statement: string): Promise<boolean> {
    return this.client.query(statement, [this.owner]).then(
      () => true,
      () => false,
    );
  }
}

const everyMs = 1_000;
/** The beats that an owner may miss. A worker that does not get the processor for so long is slow, not dead. */
const lateAfterMs = 2_500;

const beat = `
insert into heartbeats (owner) values ($1)
on conflict (owner) do update set beat_at = default, postgres_since = default`;
const forget = `delete from heartbeats where owner = $1`;

/**
 * The condition on a row of `heartbeats` that its owner is dead: it is late by the newest beat of all owners, so that an
 * outage of Postgres or of the pooler, which holds up everyone, makes no one late.
 */
export const isLate = `postgres_since = pg_postmaster_start_time()
  and beat_at < (select max(beat_at) from heartbeats) - interval '${lateAfterMs} ms'`;

/** How a process shows that it lives where no lock can: it writes a row each second, until the signal aborts. */
async function beatUntil(leaving: AbortSignal, { owner, sql }: { owner: string; sql: Sql }): Promise<void> {
  const write = (statement: string) => sql.query(statement, [owner]).catch(() => undefined); // Postgres is unavailable
  while (!leaving.aborted) {
    await write(beat);
    await pauseUntil(leaving, everyMs);
  }
  await write(forget);
}
