import { z } from 'zod';

const defaultPage = 50;

/** `?limit=&after=` of every list. */
export const pageQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(200).default(defaultPage),
  after: z.string().optional().describe('The `next_cursor` of the page before.'),
});

export const pageOf = <Item extends z.ZodType>(item: Item) =>
  z.object({ data: z.array(item), has_more: z.boolean(), next_cursor: z.string().nullable() });
