import type { Pool, PoolClient } from 'pg';
import { isBehindPooler } from './configure-connection';
import { isOutdated } from './sql-error';

/** Runs statements whose text is constant, so that each connection prepares each of them once. */
export interface Sql {
  /**
   * `Row` declares what the statement selects, and nothing verifies it: for the hot statements of `docs/sql.md` and for tests.
   * Other statements are `CheckedQuery`s.
   */
  query<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]>;
}

/**
 * Names prepared statements by their text, the same on all connections of a pool. When the next version's migration adds
 * columns to a table, a prepared `select *` becomes invalid: it then gets a new name, which prepares it again. Behind a pooler
 * statements have no names.
 */
export class PreparedStatements {
  private readonly names = new Map<string, string>();
  private count = 0;

  /** In a transaction the error is thrown, and `Database.transaction` retries the whole transaction. */
  over(connection: Pool | PoolClient, { inTransaction = false } = {}): Sql {
    const query = async <Row extends object>(text: string, values: readonly unknown[] = []): Promise<Row[]> => {
      const name = this.toName(text);
      try {
        return await withClient(connection, async (client) => {
          const statement = isBehindPooler(client) ? { text } : { name, text };
          return (await client.query<Row>({ ...statement, values: [...values] })).rows;
        });
      } catch (error) {
        if (!isOutdated(error)) throw error;
        if (this.names.get(text) === name) this.names.delete(text);
        if (inTransaction) throw error;
        return query(text, values);
      }
    };
    return { query };
  }

  private toName(text: string): string {
    const name = this.names.get(text) ?? `rondo_${(this.count += 1)}`;
    this.names.set(text, name);
    return name;
  }
}

/** A connection on which a statement failed is closed: what is wrong may be the connection itself. */
async function withClient<T>(connection: Pool | PoolClient, work: (client: PoolClient) => Promise<T>): Promise<T> {
  if ('release' in connection) return work(connection);
  const client = await connection.connect();
  let hasFailed = true;
  try {
    const result = await work(client);
    hasFailed = false;
    return result;
  } finally {
    client.release(hasFailed);
  }
}
