import { TerminalError } from '@rondo/domain';

/** A piece of a list. `next_cursor` goes into the next request's `after`; null when the list is at its end. */
export interface Page<T> {
  readonly data: readonly T[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

export interface PageRequest {
  readonly after?: string | undefined;
  readonly limit: number;
}

/** `rows` holds one row more than was asked for when there is more. */
export const pageOf = <T extends Identified>(rows: readonly T[], limit: number): Page<T> =>
  page(rows.slice(0, limit), rows.length > limit);

/** Of rows that `withinPage` selects. */
export function boundedPageOf<Row extends Bounded, T extends Identified>(
  rows: readonly Row[],
  limit: number,
  read: (row: Row) => T,
): Page<T> {
  const taken = rows.slice(0, limit);
  return page(taken.map(read), taken.at(-1)?.has_next ?? false);
}

interface Identified {
  readonly id: string;
}

export interface Bounded {
  readonly has_next: boolean;
}

function page<T extends Identified>(data: readonly T[], more: boolean): Page<T> {
  const last = data.at(-1);
  return { data, has_more: more, next_cursor: more && last ? Buffer.from(last.id).toString('base64url') : null };
}

/** Rows can be long: a page ends with the one that reaches so much, however many were asked for. */
const bytesInPage = 8 * 1024 * 1024;

/** The rows of a statement, in this order, as many as a page may hold; each tells whether another one follows it. */
export const withinPage = (statement: string, { order, length }: { order: string; length: string }): string => `
select * from (
  select wanted.*, lead(id) over (order by ${order}) is not null as has_next,
    sum(${length}) over (order by ${order}) - (${length}) as bytes_before
  from (${statement}) as wanted
) as measured
where bytes_before < ${bytesInPage}
order by ${order}`;

/** The id that a cursor stands for. Throws `invalid_cursor` for anything that `pageOf` did not write. */
export function idOfCursor(cursor: string, id: { safeParse(text: string): { success: boolean } }): string {
  const text = Buffer.from(cursor, 'base64url').toString();
  if (!id.safeParse(text).success) throw invalidCursor();
  return text;
}

export const invalidCursor = (): TerminalError => new TerminalError('invalid_cursor', 'The cursor is not one of ours.');
