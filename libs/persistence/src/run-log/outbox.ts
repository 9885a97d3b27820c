import { type Run, runId, threadId } from '@rondo/contract';
import { runQueueName } from '@rondo/domain';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { Database } from '../database/database';

const outboxEntry = z.object({
  queue: runQueueName,
  jobId: z.string(),
  payload: z.object({ run_id: runId, thread_id: threadId, activation: z.number().int().positive() }),
});

/** What must reach a queue after its transaction committed. `jobId` is `<runId>-<activation>`: adding it twice is adding it once. */
export type OutboxEntry = z.infer<typeof outboxEntry>;

/** What is written with a run that may begin at once. */
export const firstActivation = ({ id, thread_id }: Run): OutboxEntry => ({
  queue: 'runs',
  jobId: `${id}-1`,
  payload: { run_id: id, thread_id, activation: 1 },
});

type Add = (entry: OutboxEntry) => Promise<void>;

/** For so long the entries of a round belong to it; then the process that took them counts as dead. */
const takeEntries = `
update outbox set taken_until = clock_timestamp() + interval '10 s'
where id in (
  select id from outbox where taken_until is null or taken_until < clock_timestamp()
  order by id limit 100 for update skip locked
)
returning id, queue, job_id as "jobId", payload`;

const forgetEntries = `delete from outbox where id = any($1::bigint[])`;
const forgetJobs = `delete from outbox where (queue, job_id) in (select * from unnest($1::text[], $2::text[]))`;
const returnEntries = `update outbox set taken_until = null where id = any($1::bigint[])`;

const forgetAfterMs = 200;

/** No transaction is open while a queue is spoken to (I11): entries are taken, added, and then forgotten. */
export class Outbox {
  private handed: OutboxEntry[] = [];
  private round: Promise<number> | undefined;
  private nextRound: Promise<number> | undefined;

  constructor(private readonly database: Database) {}

  /**
   * Hands every due entry to `add` and forgets those that it resolved for; the others stay for the next call, which any
   * process may make. Rejects with the first error of `add`. Calls that overlap share one round.
   * Call it after each commit that may have written an entry, and every few seconds for what a crash left.
   */
  publish(add: Add): Promise<number> {
    this.nextRound ??= this.startAfter(this.round, add);
    return this.nextRound;
  }

  /**
   * Hands over an entry that this process has just committed, without looking for it. It is forgotten a moment later,
   * together with others. Whoever publishes before that adds it once more, which is adding it once.
   */
  async hand(entry: OutboxEntry, add: Add): Promise<void> {
    await add(entry);
    this.handed.push(entry);
    if (this.handed.length > 1) return;
    await sleep(forgetAfterMs, undefined, { ref: false });
    const entries = this.handed;
    this.handed = [];
    const [queues, jobs] = [entries.map(({ queue }) => queue), entries.map(({ jobId }) => jobId)];
    await this.database.sql.query(forgetJobs, [queues, jobs]);
  }

  /** The round under way may have looked before the caller's entry was there, so the caller waits for the one after. */
  private async startAfter(previous: Promise<number> | undefined, add: Add): Promise<number> {
    await previous?.catch(() => 0); // its own callers hear of it
    this.round = this.nextRound;
    this.nextRound = undefined;
    return this.publishAll(add);
  }

  private async publishAll(add: Add): Promise<number> {
    let published = 0;
    for (;;) {
      const count = await this.publishSome(add);
      if (count === 0) return published;
      published += count;
    }
  }

  private async publishSome(add: Add): Promise<number> {
    const rows = await this.database.sql.query<{ id: string }>(takeEntries);
    const outcomes = await Promise.allSettled(rows.map(async (row) => add(outboxEntry.parse(row))));

    const done = rows.filter((_, index) => outcomes[index]?.status === 'fulfilled');
    const failed = rows.filter((row) => !done.includes(row));
    if (done.length > 0) await this.database.sql.query(forgetEntries, [done.map(({ id }) => id)]);
    if (failed.length > 0) await this.database.sql.query(returnEntries, [failed.map(({ id }) => id)]);
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
    return rows.length;
  }
}
