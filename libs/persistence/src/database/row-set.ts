type Value = string | number | boolean | null;
type Type = 'text' | 'int' | 'float' | 'boolean' | 'json' | 'timestamptz';

/**
 * Rows on their way into a statement, one array per column. The statement's text is the same for any number of rows, so
 * it is prepared once, and Postgres takes arrays apart much faster than it does JSON.
 *
 * A `json` column comes as text that is JSON already. A `text` column is for words and ids of our own: what people and
 * models wrote may hold control characters, and goes as JSON.
 */
export class RowSet<Column extends string> {
  private readonly columns: readonly Column[];

  constructor(
    private readonly name: string,
    private readonly types: Readonly<Record<Column, Type>>,
  ) {
    this.columns = Object.keys(types) as Column[]; // a record has no other keys
  }

  /** How many parameters it takes. */
  get width(): number {
    return this.columns.length;
  }

  /** The rows as a table, whose first parameter has this number. */
  table(first: number): string {
    const arrays = this.columns.map((column, index) => `$${first + index}::${this.types[column]}[]`);
    return `unnest(${arrays.join(', ')}) as ${this.name} (${this.columns.join(', ')})`;
  }

  /**
   * Arrays as Postgres writes them are JSON in braces, where no string has a control character: quotes and backslashes
   * are escaped alike, and JSON has no other escapes left.
   */
  values(rows: readonly Readonly<Record<Column, Value>>[]): string[] {
    return this.columns.map((column) => `{${JSON.stringify(rows.map((row) => row[column])).slice(1, -1)}}`);
  }
}

/** Sets as tables of one statement. Their parameters follow one another in this order. */
export function tables(...sets: readonly { readonly width: number; table(first: number): string }[]): string[] {
  let first = 1;
  return sets.map((set) => {
    const table = set.table(first);
    first += set.width;
    return table;
  });
}
