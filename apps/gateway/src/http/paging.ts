import { ApiError } from '../problems/api-error';

export interface Page<Item> {
  readonly data: readonly Item[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

/** A page of a list that is in memory. Throws `invalid_cursor` for a cursor that no page of this list has. */
export function paginate<Item>(
  items: readonly Item[],
  { limit, after }: { limit: number; after?: string | undefined },
  toKey: (item: Item) => string,
): Page<Item> {
  const toCursor = (item: Item) => Buffer.from(toKey(item)).toString('base64url');
  const before = after === undefined ? -1 : items.findIndex((item) => toCursor(item) === after);
  if (after !== undefined && before === -1) throw new ApiError('invalid_cursor', 'The cursor is not one of ours.');

  const data = items.slice(before + 1, before + 1 + limit);
  const last = data.at(-1);
  const hasMore = before + 1 + limit < items.length;
  return { data, has_more: hasMore, next_cursor: hasMore && last !== undefined ? toCursor(last) : null };
}
