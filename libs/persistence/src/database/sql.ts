import type { Pool, PoolClient } from 'pg';
import { isOutdated } from './sql-error';

/** Runs statements whose text is constant, so that each connection prepares each of them once. */
export interface Sql {
  /** `Row` says what the statement selects; nothing checks it but the tests. */
  query<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]>;
}

/**
 * Names statements by their text, as all connections of a pool must agree on the names. The migration of the next version
 * may add columns to what a statement was prepared for: then it gets another name, so that it is prepared anew.
 */
export class PreparedStatements {
  private readonly names = new Map<string, string>();
  private given = 0;

  /** A transaction is lost then, and is tried again as a whole by its caller. */
  over(connection: Pool | PoolClient, { inTransaction = false } = {}): Sql {
    const query = async <Row extends object>(text: string, values: readonly unknown[] = []): Promise<Row[]> => {
      const name = this.nameOf(text);
      try {
        const { rows } = await connection.query<Row>({ name, text, values: [...values] });
        return rows;
      } catch (error) {
        if (!isOutdated(error)) throw error;
        if (this.names.get(text) === name) this.names.delete(text);
        if (inTransaction) throw error;
        return query(text, values);
      }
    };
    return { query };
  }

  private nameOf(text: string): string {
    const name = this.names.get(text) ?? `rondo_${(this.given += 1)}`;
    this.names.set(text, name);
    return name;
  }
}
