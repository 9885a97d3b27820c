import { z } from 'zod';
import type { Sql } from './sql';

/**
 * A statement with the schema of its rows beside it. Each row is parsed, so that a renamed column or another type is an error
 * at the statement, and not a wrong value somewhere else. Columns that the schema does not name are left out.
 */
export class CheckedQuery<Row> {
  constructor(
    private readonly row: z.ZodType<Row>,
    /** For statements that contain this one. */
    readonly text: string,
  ) {}

  /** Rejects with a ZodError if a row is not as the schema says. */
  async all(sql: Sql, values?: readonly unknown[]): Promise<Row[]> {
    const rows = await sql.query(this.text, values);
    return rows.map((row) => this.row.parse(row));
  }

  /** The first row, or undefined if there is none. Rejects like `all`. */
  async first(sql: Sql, values?: readonly unknown[]): Promise<Row | undefined> {
    const [row] = await sql.query(this.text, values);
    return row === undefined ? undefined : this.row.parse(row);
  }
}

export const createQuery = <Row>(row: z.ZodType<Row>, text: string): CheckedQuery<Row> => new CheckedQuery(row, text);

/**
 * A JSON column that this library writes from a value of this type. Only its kind is checked: a schema would reorder keys, and
 * refuse documents of earlier versions.
 */
export const jsonDocument = <T extends object>() =>
  z.custom<T>((value) => typeof value === 'object' && value !== null, 'must be a JSON object or array');

/** Any JSON. */
export const anyJson = z.custom<unknown>((value) => value !== undefined, 'must be a column of the statement');

/** A time as the API says it. In a column of JSON it is a text. */
export const timeColumn = z
  .date()
  .or(z.iso.datetime({ offset: true }))
  .transform((at) => new Date(at).toISOString());

export const byteColumn = z.instanceof(Buffer);

/** A `bigint` column of a size or count, which stays far below 2^53. */
export const sizeColumn = z.string().regex(/^\d+$/).transform(Number);
