import type { Run } from '@rondo/contract';
import type { EventPage, RunAddress, Runs, ThreadAddress } from '@rondo/persistence';

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

/** Only the newest one has its settings: they can be long, and a thread can have thousands of runs. */
export type ThreadRun = Omit<Run, 'settings'> & Partial<Pick<Run, 'settings'>>;

/** All runs of a thread, newest first. What is only a message to another run is none for clients of façades. */
export async function listThreadRuns(runs: Pick<Runs, 'list'>, thread: ThreadAddress): Promise<readonly ThreadRun[]> {
  const all: ThreadRun[] = [];
  for (let after: string | undefined; ;) {
    const page = await runs.list({ ...thread, isMessage: false, limit: pageSize, after });
    for (const { settings, ...run } of page.data) all.push(all.length === 0 ? { ...run, settings } : run);
    if (page.next_cursor === null) return all;
    after = page.next_cursor;
  }
}
