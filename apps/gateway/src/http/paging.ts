import { z } from 'zod';
import { ApiError } from '../problems/api-error';

const defaultPage = 50;

/** `?limit=&after=` of every list. */
export const pageQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(200).default(defaultPage),
  after: z.string().optional().describe('The `next_cursor` of the page before.'),
});

export const pageOf = <Item extends z.ZodType>(item: Item) =>
  z.object({ data: z.array(item), has_more: z.boolean(), next_cursor: z.string().nullable() });

export interface Page<Item> {
  readonly data: readonly Item[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

/** A page of a list that is in memory. Throws `invalid_cursor` for a cursor that no page of this list has. */
export function paginate<Item>(
  items: readonly Item[],
  { limit, after }: { limit: number; after?: string | undefined },
  keyOf: (item: Item) => string,
): Page<Item> {
  const cursorOf = (item: Item) => Buffer.from(keyOf(item)).toString('base64url');
  const before = after === undefined ? -1 : items.findIndex((item) => cursorOf(item) === after);
  if (after !== undefined && before === -1) throw new ApiError('invalid_cursor', 'The cursor is not one of ours.');

  const data = items.slice(before + 1, before + 1 + limit);
  const last = data.at(-1);
  const hasMore = before + 1 + limit < items.length;
  return { data, has_more: hasMore, next_cursor: hasMore && last !== undefined ? cursorOf(last) : null };
}
