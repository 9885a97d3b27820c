type Value = string | number | boolean | null;
type Type = 'text' | 'int' | 'float' | 'boolean' | 'json' | 'timestamptz';

/**
 * Rows as parameters of a statement, one array per column. The text of the statement is the same for any number of rows,
 * so it is prepared once, and Postgres unpacks arrays much faster than JSON.
 *
 * Values of a `json` column are JSON text. A `text` column is for ids and constants only: text of users and models may hold
 * control characters, so it is passed as JSON.
 */
export class RowSet<Column extends string> {
  private readonly columns: readonly Column[];
  /** Most statements have no rows of most sets. */
  private readonly withoutRows: readonly string[];

  constructor(
    private readonly name: string,
    private readonly types: Readonly<Record<Column, Type>>,
  ) {
    this.columns = Object.keys(types) as Column[]; // a record has no other keys
    this.withoutRows = this.columns.map(() => '{}');
  }

  /** The number of its parameters. */
  get width(): number {
    return this.columns.length;
  }

  /** The rows as a table expression whose first parameter has this number. */
  table(first: number): string {
    const arrays = this.columns.map((column, index) => `$${first + index}::${this.types[column]}[]`);
    return `unnest(${arrays.join(', ')}) as ${this.name} (${this.columns.join(', ')})`;
  }

  /**
   * A Postgres array literal equals JSON in braces as long as no string has a control character: both escape quotes and
   * backslashes alike, and JSON then uses no other escapes.
   */
  values(rows: readonly Readonly<Record<Column, Value>>[]): readonly string[] {
    if (rows.length === 0) return this.withoutRows;
    return this.columns.map((column) => `{${JSON.stringify(rows.map((row) => row[column])).slice(1, -1)}}`);
  }
}

/** Sets as tables of one statement, whose parameters are numbered in this order. */
export function tables(...sets: readonly { readonly width: number; table(first: number): string }[]): string[] {
  let first = 1;
  return sets.map((set) => {
    const table = set.table(first);
    first += set.width;
    return table;
  });
}
