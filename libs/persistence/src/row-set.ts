type Value = string | number | boolean | null;

/**
 * Rows on their way into a statement, as one JSON parameter. The statement's text is the same for any number of rows, so
 * it is prepared once; and JSON is what both ends read and write fastest.
 */
export class RowSet<Column extends string> {
  constructor(
    private readonly name: string,
    private readonly types: Readonly<Record<Column, 'text' | 'int' | 'float' | 'boolean' | 'json' | 'timestamptz'>>,
  ) {}

  /** The rows as a table, of the parameter with this number. A `json` column comes as text that is JSON already. */
  table(parameter: number): string {
    const types = Object.entries<string>(this.types);
    const given = types.map(([column, type]) => `${column} ${type === 'json' ? 'text' : type}`);
    const taken = types.map(([column, type]) => (type === 'json' ? `${column}::json` : column));
    return `(select ${taken.join(', ')} from json_to_recordset($${parameter}::json) as given(${given.join(', ')})) as ${this.name}`;
  }

  value(rows: readonly Readonly<Record<Column, Value>>[]): string {
    return JSON.stringify(rows);
  }
}
