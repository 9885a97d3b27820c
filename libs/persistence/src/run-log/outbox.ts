import { type Run, runId, threadId } from '@rondo/contract';
import type { RunQueueName } from '@rondo/domain';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { Database } from '../database/database';

const runActivation = z.object({ run_id: runId, thread_id: threadId, activation: z.number().int().positive() });

/** Every topic of the outbox, with the schema of its payloads. The topics of runs are named like the queues of runs. */
const outboxTopics = { runs: runActivation, compactions: runActivation } satisfies Record<RunQueueName, z.ZodType>;

type Topic = keyof typeof outboxTopics;

const entryOn = <Name extends Topic>(topic: Name) =>
  z.object({ topic: z.literal(topic), key: z.string(), payload: outboxTopics[topic] });

const outboxEntry = z.discriminatedUnion('topic', [entryOn('runs'), entryOn('compactions')]);

/**
 * What must be delivered after its transaction has committed. `key` is unique in its topic, for a run's activation
 * `<runId>-<activation>`, so that an entry may be delivered twice and must be processed once.
 */
export type OutboxEntry = z.infer<typeof outboxEntry>;

/** The entry that `insertRuns` writes for a run that may start at once. */
export const firstActivation = ({ id, thread_id }: Run): OutboxEntry => ({
  topic: 'runs',
  key: `${id}-1`,
  payload: { run_id: id, thread_id, activation: 1 },
});

type Deliver = (entry: OutboxEntry) => Promise<void>;

const knownTopics = Object.keys(outboxTopics);

/**
 * Locks a batch for 10 s; after that its publisher counts as dead. Topics of a newer version are left to the processes that
 * know them, so that during an upgrade they neither fail here nor fill the batch.
 */
const lockEntries = `
update outbox set taken_until = clock_timestamp() + interval '10 s'
where id in (
  select id from outbox where queue = any($1::text[]) and (taken_until is null or taken_until < clock_timestamp())
  order by id limit 100 for update skip locked
)
returning id, queue as topic, job_id as key, payload`;

const deleteEntries = `delete from outbox where id = any($1::bigint[])`;
const deleteByKey = `delete from outbox where (queue, job_id) in (select * from unnest($1::text[], $2::text[]))`;
const unlockEntries = `update outbox set taken_until = null where id = any($1::bigint[])`;

const deleteDelayMs = 200;

/**
 * The transactional outbox. No transaction is open while an entry is delivered (I11): entries are locked, delivered and
 * then deleted, each in a statement of its own.
 */
export class Outbox {
  private delivered: OutboxEntry[] = [];
  private current: Promise<number> | undefined;
  private following: Promise<number> | undefined;

  constructor(private readonly database: Database) {}

  /**
   * Delivers every due entry by `add` and deletes those for which it resolved; the others stay for the next call in any
   * process. Rejects with the first error of `add`. Overlapping calls share one pass.
   * Call it after each commit that may have written an entry, and every few seconds for what a crash left.
   */
  publish(add: Deliver): Promise<number> {
    this.following ??= this.publishAfter(this.current, add);
    return this.following;
  }

  /**
   * Delivers an entry that this process has just committed without reading the table. Rows are deleted a moment later,
   * many in one statement. A `publish` in between delivers the entry twice, which its key makes harmless.
   */
  async publishEntry(entry: OutboxEntry, add: Deliver): Promise<void> {
    await add(entry);
    this.delivered.push(entry);
    if (this.delivered.length > 1) return;
    await sleep(deleteDelayMs, undefined, { ref: false });
    const entries = this.delivered;
    this.delivered = [];
    const [topics, keys] = [entries.map(({ topic }) => topic), entries.map(({ key }) => key)];
    await this.database.sql.query(deleteByKey, [topics, keys]);
  }

  /** A pass that is under way may have read the table before the caller's commit, so the caller waits for the next one. */
  private async publishAfter(previous: Promise<number> | undefined, add: Deliver): Promise<number> {
    await previous?.catch(() => 0); // its own callers get the error
    this.current = this.following;
    this.following = undefined;
    return this.publishAll(add);
  }

  private async publishAll(add: Deliver): Promise<number> {
    let published = 0;
    for (;;) {
      const count = await this.publishBatch(add);
      if (count === 0) return published;
      published += count;
    }
  }

  private async publishBatch(add: Deliver): Promise<number> {
    const rows = await this.database.sql.query<{ id: string }>(lockEntries, [knownTopics]);
    const outcomes = await Promise.allSettled(rows.map(async (row) => add(outboxEntry.parse(row))));

    const done = rows.filter((_, index) => outcomes[index]?.status === 'fulfilled');
    const failed = rows.filter((row) => !done.includes(row));
    if (done.length > 0) await this.database.sql.query(deleteEntries, [done.map(({ id }) => id)]);
    if (failed.length > 0) await this.database.sql.query(unlockEntries, [failed.map(({ id }) => id)]);
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
    return rows.length;
  }
}
