import { TerminalError } from '@rondo/domain';
import type { Sql } from '../database/sql';
import { z } from 'zod';

/** A page of a list. `next_cursor` is the `after` of the next request; null at the end of the list. */
export interface Page<T> {
  readonly data: readonly T[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

export interface PageRequest {
  readonly after?: string | undefined;
  readonly limit: number;
}

/** `rows` has one row more than requested if there are more. `toKey` is the text after which the next page begins. */
export function toKeyedPage<T>(rows: readonly T[], limit: number, toKey: (row: T) => string): Page<T> {
  return page(rows.slice(0, limit), rows.length > limit, toKey);
}

/** `rows` has one row more than requested if there are more. */
export const toPage = <T extends Identified>(rows: readonly T[], limit: number): Page<T> =>
  toKeyedPage(rows, limit, toId);

interface Identified {
  readonly id: string;
}

const toId = ({ id }: Identified): string => id;

function page<T>(data: readonly T[], more: boolean, toKey: (row: T) => string): Page<T> {
  const last = data.at(-1);
  const next = more && last !== undefined ? Buffer.from(toKey(last)).toString('base64url') : null;
  return { data, has_more: more, next_cursor: next };
}

/** Versions of one thing, newest first. `rows` has one row more than requested if there are more. */
export const toVersionPage = <T extends { readonly version: number }>(rows: readonly T[], limit: number): Page<T> =>
  toKeyedPage(rows, limit, ({ version }) => String(version));

const afterAllVersions = 2 ** 31 - 1;

/** The version before which a page begins. Throws `invalid_cursor` for anything that `toVersionPage` did not write. */
export function readVersionCursor(cursor: string | undefined): number {
  if (cursor === undefined) return afterAllVersions;
  const text = Buffer.from(cursor, 'base64url').toString();
  if (!/^[1-9]\d{0,8}$/.test(text)) throw invalidCursor();
  return Number(text);
}

/** Bounds pages of long rows: a page ends with the row that reaches this size. */
export const bytesInPage = 8 * 1024 * 1024;

interface Measure {
  /** The columns that order the rows. */
  readonly order: string;
  /** The size of a row in bytes. */
  readonly length: string;
}

/** The first rows of a statement, up to the size of a page. */
export const withinPage = (statement: string, { order, length }: Measure): string => `
select * from (
  select wanted.*, sum(${length}) over (order by ${order}) - (${length}) as bytes_before
  from (${statement}) as wanted
) as measured
where bytes_before < ${bytesInPage}`;

/** A column that a bounded list adds to its rows, and that is in no item. */
const measured = z.object({ has_next: z.boolean() });

const identified = z.object({ id: z.string() });

interface Bounds<T> extends Measure {
  /** The text after which the next page begins. Absent: the id. */
  readonly toKey?: (item: T) => string;
}

/** A list whose rows can be long, and are parsed as items. The last parameter of its statement is how many rows it may have. */
export class BoundedList<T> {
  private readonly statement: string;
  private readonly toKey: (item: T) => string;

  constructor(
    statement: string,
    { order, length, toKey }: Bounds<T>,
    private readonly item: z.ZodType<T>,
  ) {
    const followed = `select listed.*, lead(true) over (order by ${order}) is not null as has_next from (${statement}) as listed`;
    this.statement = `${withinPage(followed, { order, length })} order by ${order}`;
    this.toKey = toKey ?? ((item) => identified.parse(item).id);
  }

  async page(sql: Sql, values: readonly unknown[], limit: number): Promise<Page<T>> {
    const rows = await sql.query(this.statement, [...values, limit + 1]);
    const taken = rows.slice(0, limit);
    return page(
      taken.map((row) => this.item.parse(row)),
      taken.length > 0 && measured.parse(taken.at(-1)).has_next,
      this.toKey,
    );
  }
}

/** The id in a cursor. Throws `invalid_cursor` for anything that `toPage` did not write. */
export function idOfCursor(cursor: string, id: { safeParse(text: string): { success: boolean } }): string {
  const text = Buffer.from(cursor, 'base64url').toString();
  if (!id.safeParse(text).success) throw invalidCursor();
  return text;
}

export const invalidCursor = (): TerminalError => new TerminalError('invalid_cursor', 'The cursor is not one of ours.');
