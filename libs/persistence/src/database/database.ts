import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import { PrismaClient } from '../generated/client';
import { z } from 'zod';
import { beginWithLimits, configureConnection, isBehindPooler } from './configure-connection';
import { LivenessLock } from './liveness-lock';
import { ReplacedServer } from './replaced-server';
import { SilentConnections } from './silent-connections';
import { PreparedStatements, type Sql } from './sql';
import { ReadOnlyDatabase, isOutdated, isReadOnly } from './sql-error';
import { createQuery } from './checked-query';

/**
 * One pool with two interfaces: Prisma for simple reads and writes, and plain SQL where rows are locked or one statement
 * does the work of many. A prepared statement costs half of what it does through Prisma's raw queries, a transaction a
 * ninth.
 */
export interface Database {
  readonly prisma: PrismaClient;
  readonly sql: Sql;
  /**
   * A dedicated connection for the append statement: it is large, so each further connection would plan and cache it
   * again, and on its own connection it does not queue behind reads.
   */
  readonly writer: Sql;
  /** Runs `work` in one transaction. It must await only queries on the given `sql` (I11). */
  transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  /** Rejects when the database does not answer, or does not accept writes, as a replica. */
  ping(): Promise<void>;
  /** Calls `listener` when another server has taken the place of the one that this process knew; see ReplacedServer. */
  onReplaced(listener: () => void): void;
  close(): Promise<void>;
}

const limits = {
  connectionTimeoutMillis: 10_000,
  keepAlive: true,
  /** Opening a connection costs more than a hundred statements. */
  idleTimeoutMillis: 300_000,
};

/** Longer than a statement or a short transaction can take under the server's own limits. */
const longestUseMs = 45_000;

export interface DatabaseOptions {
  readonly url: string;
  /** The most pooled connections, without those of the writer and of the liveness lock. */
  readonly poolSize: number;
  /** The owner of this process's leases. Holds its liveness lock while the database is open. */
  readonly leaseOwner?: string;
  /** Warns at start-up when the server has too few free connections. */
  readonly log?: ConnectionLog;
}

export function openDatabase({ url, poolSize, leaseOwner, log }: DatabaseOptions): Database {
  let checks: NodeJS.Timeout | undefined;
  const server = new ReplacedServer(() => {
    checks = setInterval(() => void checkThroughPooler(pool, server), poolerCheckMs).unref();
  });
  const pool = openPool(url, poolSize, server);
  const writers = openPool(url, 1, server);
  const silent = [pool, writers].map((connections) => new SilentConnections(connections, longestUseMs));
  let prisma: PrismaClient | undefined;
  const statements = new PreparedStatements();
  const sql = statements.over(pool);
  const livenessLock = leaseOwner === undefined ? undefined : new LivenessLock({ url, owner: leaseOwner, sql });
  if (log) void checkConnections(sql, { needed: poolSize + (livenessLock ? 2 : 1), log });

  return {
    /** Created where it is first used: it takes 15 MB, and most services read and write by SQL alone. */
    get prisma() {
      return (prisma ??= createPrisma(pool));
    },
    sql,
    writer: statements.over(writers),
    transaction: (work) =>
      retryOutdated(() => inTransaction(pool, (client) => work(statements.over(client, { inTransaction: true })))),
    ping: () => inTransaction(pool, requireWrites),
    onReplaced: (listener) => server.onReplaced(listener),
    close: async () => {
      clearInterval(checks);
      await livenessLock?.release();
      for (const connections of silent) connections.close();
      await prisma?.$disconnect();
      await Promise.all([pool.end(), writers.end()]);
    },
  };
}

const createPrisma = (pool: pg.Pool): PrismaClient =>
  new PrismaClient({ adapter: new PrismaPg(pool), transactionOptions: { maxWait: 30_000, timeout: 30_000 } });

/**
 * A broken connection rejects its query, and the pool opens another on demand. The listeners prevent the `error` event
 * from ending the process.
 */
function openPool(connectionString: string, max: number, server: ReplacedServer): pg.Pool {
  /** Before the first use of a connection. If it fails, the pool closes the connection. */
  const verify = (client: pg.PoolClient, done: (error?: Error) => void): void =>
    void configureConnection(client)
      .then(() => server.check(client))
      .then(() => done(), done);
  const pool = new pg.Pool({ connectionString, max, ...limits, verify });
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

/** Where connections do not end with their server, it is asked again and again. */
const poolerCheckMs = 1_000;

async function checkThroughPooler(pool: pg.Pool, server: ReplacedServer): Promise<void> {
  if (pool.totalCount === 0) return;
  const client = await pool.connect().catch(() => undefined); // the database is away
  if (!client) return;
  let isBroken = false;
  await server.check(client).catch(() => (isBroken = true));
  client.release(isBroken);
}

/** Several statements of a transaction may be outdated, each found by another attempt. */
const maxOutdated = 10;

async function retryOutdated<T>(transaction: () => Promise<T>): Promise<T> {
  for (let outdated = 0; ; outdated += 1) {
    try {
      return await transaction();
    } catch (error) {
      if (!isOutdated(error) || outdated === maxOutdated) throw error;
    }
  }
}

async function inTransaction<T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken = false;
  try {
    await client.query(isBehindPooler(client) ? beginWithLimits : 'begin');
    const result = await work(client);
    await client.query('commit');
    return result;
  } catch (error) {
    broken = isReadOnly(error); // After a failover another connection reaches the server that accepts writes.
    await client.query('rollback').catch(() => (broken = true)); // the pool closes such a connection
    throw error;
  } finally {
    client.release(broken);
  }
}

/** A replica answers reads, and so does a primary that hands over. */
async function requireWrites(client: pg.PoolClient): Promise<void> {
  const { rows } = await client.query<{ transaction_read_only: string }>('show transaction_read_only');
  if (rows[0]?.transaction_read_only !== 'off') throw new ReadOnlyDatabase();
}

interface ConnectionLog {
  warn(fields: object, text: string): void;
}

const connections = createQuery(
  z.object({ allowed: z.number(), in_use: z.number() }),
  `
select current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as allowed,
  (select count(*)::int from pg_stat_activity
    where datid is not null and usesysid is not null and pid <> pg_backend_pid()) as in_use`,
);

/**
 * Warns at start-up when Postgres has fewer free connections than this process may open, which would otherwise show only
 * under load. Never rejects: an unavailable server is reported elsewhere.
 */
export async function checkConnections(
  sql: Sql,
  { needed, log }: { needed: number; log: ConnectionLog },
): Promise<void> {
  try {
    const found = await connections.first(sql);
    if (!found || needed <= found.allowed - found.in_use) return;
    log.warn(
      { needed, ...found },
      'Postgres may run out of connections: lower DATABASE_POOL_SIZE, or raise max_connections',
    );
  } catch {
    return;
  }
}
