import type { Query, Transport } from './transport.ts';

interface Page<Item> {
  readonly data: readonly Item[];
  readonly next_cursor: string | null;
}

/** All items of a list, read page by page as they are needed. */
export async function* itemsOf<Item>(
  transport: Transport,
  path: string,
  query: Query = {},
): AsyncGenerator<Item, void> {
  let after: string | undefined;
  do {
    const page: Page<Item> = await transport.json({ path, query: { ...query, after } });
    yield* page.data;
    after = page.next_cursor ?? undefined;
  } while (after !== undefined);
}
