import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import { type ConnectionLog, checkConnections } from './check-connections';
import { PrismaClient } from '../generated/client';
import { LivenessLock } from './liveness-lock';
import { SilentConnections } from './silent-connections';
import { PreparedStatements, type Sql } from './sql';
import { isOutdated } from './sql-error';

/**
 * One pool, two ways in. Prisma reads and writes what is simple. Where rows are locked, or one statement must do the
 * work of many, SQL goes to the same pool directly: a prepared statement costs half of what it does through Prisma's raw
 * queries, a transaction a ninth.
 */
export interface Database {
  readonly prisma: PrismaClient;
  readonly sql: Sql;
  /**
   * One connection of its own, for the one writer of a process: its statement is large, every connection would plan and
   * keep it anew, and it need not wait for readers.
   */
  readonly writer: Sql;
  /** Runs `work` in one transaction. It must await nothing but the `sql` it is given (I11). */
  transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  /** Rejects when the database does not answer. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

const limits = {
  connectionTimeoutMillis: 10_000,
  statement_timeout: 20_000,
  idle_in_transaction_session_timeout: 20_000,
  keepAlive: true,
  /** To open one costs more than a hundred statements. */
  idleTimeoutMillis: 300_000,
  /**
   * What is prepared finds its rows by their keys, whichever these are: one plan does, and is made once, maybe while the
   * tables are so small that to read them whole would be cheaper. Where only that is possible, its plan seems so costly
   * that Postgres would compile it, for longer than any of our statements takes.
   */
  options: '-c plan_cache_mode=force_generic_plan -c enable_seqscan=off -c jit=off',
};

/** Longer than the server's own limits let a statement take, or a transaction of a few. */
const longestUseMs = 45_000;

export interface DatabaseOptions {
  readonly url: string;
  /** Connections at most, those of the writer and of the presence not counted. */
  readonly poolSize: number;
  /** The owner of this process's leases. While the database is open, others see that this process lives. */
  readonly presentAs?: string;
  /** Hears at boot when the server has fewer left than that. */
  readonly log?: ConnectionLog;
}

export function openDatabase({ url, poolSize, presentAs, log }: DatabaseOptions): Database {
  const pool = openPool(url, poolSize);
  const writers = openPool(url, 1);
  const silent = [pool, writers].map((connections) => new SilentConnections(connections, longestUseMs));
  const prisma = new PrismaClient({
    adapter: new PrismaPg(pool),
    transactionOptions: { maxWait: 30_000, timeout: 30_000 },
  });
  const statements = new PreparedStatements();
  const sql = statements.over(pool);
  const presence = presentAs === undefined ? undefined : new LivenessLock({ url, owner: presentAs, sql, log });
  if (log) void checkConnections(sql, { needed: poolSize + (presence ? 2 : 1), log });

  return {
    prisma,
    sql,
    writer: statements.over(writers),
    transaction: (work) =>
      anew(() => inTransaction(pool, (client) => work(statements.over(client, { inTransaction: true })))),
    ping: async () => {
      await sql.query('select 1');
    },
    close: async () => {
      await presence?.leave();
      for (const connections of silent) connections.close();
      await prisma.$disconnect();
      await Promise.all([pool.end(), writers.end()]);
    },
  };
}

/**
 * A connection that breaks rejects its query, if it has one, and the pool opens another when it needs one. Without a
 * listener the event would end the process.
 */
function openPool(connectionString: string, max: number): pg.Pool {
  const pool = new pg.Pool({ connectionString, max, ...limits });
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

/** Statements may turn out to be outdated one after the other. */
const mostOutdated = 10;

async function anew<T>(transaction: () => Promise<T>): Promise<T> {
  for (let outdated = 0; ; outdated += 1) {
    try {
      return await transaction();
    } catch (error) {
      if (!isOutdated(error) || outdated === mostOutdated) throw error;
    }
  }
}

async function inTransaction<T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken = false;
  try {
    await client.query('begin');
    const result = await work(client);
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch(() => (broken = true)); // the pool closes such a connection
    throw error;
  } finally {
    client.release(broken);
  }
}
