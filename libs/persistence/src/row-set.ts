type Value = string | number | boolean | null;

/**
 * Rows on their way into a statement, as one array per column. The statement's text is the same for any number of rows,
 * so it is prepared once.
 */
export class RowSet<Column extends string> {
  private readonly columns: readonly Column[];

  constructor(
    private readonly name: string,
    private readonly types: Readonly<Record<Column, 'text' | 'int' | 'float' | 'boolean' | 'json' | 'timestamptz'>>,
  ) {
    this.columns = Object.keys(types) as Column[]; // the keys of the record
  }

  get width(): number {
    return this.columns.length;
  }

  /** The rows as a table, its parameters numbered from `first`. */
  table(first: number): string {
    const arrays = this.columns.map((column, index) => `$${first + index}::${this.types[column]}[]`);
    return `unnest(${arrays.join(', ')}) as ${this.name}(${this.columns.join(', ')})`;
  }

  values(rows: readonly Readonly<Record<Column, Value>>[]): Value[][] {
    return this.columns.map((column) => rows.map((row) => row[column]));
  }
}
