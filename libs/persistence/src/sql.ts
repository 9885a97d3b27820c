import type { Pool, PoolClient } from 'pg';

/** Runs statements whose text is constant, so that each connection prepares each of them once. */
export interface Sql {
  /** `Row` says what the statement selects; nothing checks it but the tests. */
  query<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]>;
}

/** Names statements by their text, as all connections of a pool must agree on the names. */
export class PreparedStatements {
  private readonly names = new Map<string, string>();

  over(connection: Pool | PoolClient): Sql {
    return {
      query: async <Row extends object>(text: string, values: readonly unknown[] = []) => {
        const { rows } = await connection.query<Row>({ name: this.nameOf(text), text, values: [...values] });
        return rows;
      },
    };
  }

  private nameOf(text: string): string {
    const name = this.names.get(text) ?? `rondo_${this.names.size + 1}`;
    this.names.set(text, name);
    return name;
  }
}
