/** The first `count` items, and whether there are more. */
export async function take<Item>(
  items: AsyncIterable<Item>,
  count: number,
): Promise<{ items: Item[]; hasMore: boolean }> {
  const taken: Item[] = [];
  for await (const item of items) {
    if (taken.length === count) return { items: taken, hasMore: true };
    taken.push(item);
  }
  return { items: taken, hasMore: false };
}
