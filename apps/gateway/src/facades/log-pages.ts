import type { EventPage, RunAddress, Runs } from '@rondo/persistence';

const pageSize = 200;

/** The log of a run from its beginning. Where facts were deleted, a page says so, and the next one goes on after them. */
export async function* readLogPages(runs: Pick<Runs, 'events'>, address: RunAddress): AsyncGenerator<EventPage, void> {
  for (let after = 0; ;) {
    const page = await runs.events(address, { after, limit: pageSize });
    yield page;
    after = Math.max(page.data.at(-1)?.seq ?? after, page.snapshot?.through_seq ?? 0);
    if (page.data.length === 0 || after >= page.head_seq) return;
  }
}
