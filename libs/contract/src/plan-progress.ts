import { z } from 'zod';

const shownItems = 100;
const itemCharacters = 300;

/** A plan as todo.md has it. `items` are the first of them; `done` and `total` count all. */
export const planProgress = z.object({
  items: z.array(z.object({ text: z.string(), done: z.boolean() })).max(shownItems),
  done: z.number().int().nonnegative(),
  total: z.number().int().nonnegative(),
});
export type PlanProgress = z.infer<typeof planProgress>;

const item = /^\s*(?:[-*+]|\d{1,4}[.)])\s+\[([ xX])\]\s*(.*)$/;

/** The items of a Markdown task list; everything else in the text is ignored. Undefined where there is none. */
export function planIn(text: string): PlanProgress | undefined {
  const found = text.split(/\r?\n/).flatMap((line) => {
    const [, mark, words = ''] = item.exec(line.slice(0, 2_000)) ?? [];
    return mark === undefined ? [] : [{ text: words.trim().slice(0, itemCharacters), done: mark !== ' ' }];
  });
  if (found.length === 0) return undefined;
  return { items: found.slice(0, shownItems), done: found.filter(({ done }) => done).length, total: found.length };
}
