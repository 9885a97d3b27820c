import { Refusal } from '../problems/refusals';

export interface PageOfList<Item> {
  readonly data: readonly Item[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

/** A page of a list that is in memory. Throws `invalid_cursor` for anything that an earlier page did not give. */
export function pageOfList<Item>(
  items: readonly Item[],
  { limit, after }: { limit: number; after?: string | undefined },
  cursorOf: (item: Item) => string,
): PageOfList<Item> {
  const encoded = (item: Item) => Buffer.from(cursorOf(item)).toString('base64url');
  const before = after === undefined ? -1 : items.findIndex((item) => encoded(item) === after);
  if (after !== undefined && before === -1) throw new Refusal('invalid_cursor', 'The cursor is not one of ours.');

  const data = items.slice(before + 1, before + 1 + limit);
  const last = data.at(-1);
  const hasMore = before + 1 + limit < items.length;
  return { data, has_more: hasMore, next_cursor: hasMore && last !== undefined ? encoded(last) : null };
}
