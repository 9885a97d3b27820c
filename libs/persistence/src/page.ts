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
export function pageOf<T extends { readonly id: string }>(rows: readonly T[], limit: number): Page<T> {
  const data = rows.slice(0, limit);
  const last = data.at(-1);
  const more = rows.length > limit && last !== undefined;
  return { data, has_more: more, next_cursor: more ? Buffer.from(last.id).toString('base64url') : null };
}

/** The id that a cursor stands for. Throws `invalid_cursor` for anything that `pageOf` did not write. */
export function idOfCursor(cursor: string, id: { safeParse(text: string): { success: boolean } }): string {
  const text = Buffer.from(cursor, 'base64url').toString();
  if (!id.safeParse(text).success) throw invalidCursor();
  return text;
}

export const invalidCursor = (): TerminalError => new TerminalError('invalid_cursor', 'The cursor is not one of ours.');
