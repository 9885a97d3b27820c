import { z } from 'zod';

const usualPage = 50;

/** `?limit=&after=` of every list. A list whose query has this `after` can answer `invalid_cursor`. */
export const pageQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(200).default(usualPage),
  after: z.string().optional().describe('The `next_cursor` of the page before.'),
});

/** The answer of a list. */
export const createPage = <Item extends z.ZodType>(item: Item) =>
  z.object({ data: z.array(item), has_more: z.boolean(), next_cursor: z.string().nullable() });

/** The filter of a list by words, as Postgres reads a search: a phrase in quotes, `or`, and `-` before a word. */
export const searchedWords = z.string().trim().min(1).max(200).optional();

/** A time that a request names, in any zone. Postgres knows no year 0. */
export const instant = z.iso
  .datetime({ offset: true })
  .refine((text) => !text.startsWith('0000'), 'must be a time of year 1 or later');
