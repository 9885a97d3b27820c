/**
 * Does the work for each item, `count` at a time. After an error none begins; it rejects with the first one when those in
 * progress are over.
 */
export async function concurrently<Item>(
  items: Iterable<Item>,
  count: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const queue = items[Symbol.iterator]();
  const failures: unknown[] = [];
  const worker = async () => {
    for (let next = queue.next(); !next.done && failures.length === 0; next = queue.next())
      await work(next.value).catch((error: unknown) => failures.push(error));
  };
  await Promise.all(Array.from({ length: count }, worker));
  if (failures.length > 0) throw failures[0];
}
