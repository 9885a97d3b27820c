import type { Database } from '../database/database';
import { toFact, factRow } from '../run-log/run-row';
import { chainHash } from '../api/runs/verify-log';
import type { Sql } from '../database/sql';
import { z } from 'zod';
import { createQuery } from '../database/checked-query';

/** Bounds one call; the next one continues. */
const maxRuns = 500;
const pageSize = 500;

const oldLog = z.object({
  id: z.string(),
  thread_id: z.string(),
  /** The fact before the last one; the last one stays, because it records how the run ended. */
  through: z.number(),
});
type OldLog = z.infer<typeof oldLog>;

/** Concurrent workers lock different runs. */
const oldestLog = createQuery(
  oldLog,
  `
select id, thread_id, last_seq - 1 as through from runs
where finished_at < clock_timestamp() - $1::float * interval '1 day' and events_trimmed_through = 0 and last_seq > 1
order by finished_at limit 1 for no key update skip locked`,
);

const page = createQuery(
  factRow,
  `
select id, seq, type, run_id, $2 as thread_id, iteration, epoch, at, data
from run_events where run_id = $1 and seq > $3 and seq <= $4 order by seq limit ${pageSize}`,
);

const forgetFacts = `
with trimmed as (
  update runs set events_trimmed_through = $2, events_trimmed_hash = $3 where id = $1
)
delete from run_events where run_id = $1 and seq <= $2`;

/**
 * Deletes the facts of runs that ended `days` ago, or nothing if `days` is undefined. Keeps their hash, so that the rest
 * of the log can still be verified. Messages, the ledger and usage stay.
 */
export class Retention {
  constructor(
    private readonly database: Database,
    private readonly days: number | undefined,
  ) {}

  /** Returns how many logs it has trimmed. Processes may call it concurrently. */
  async trim(): Promise<number> {
    const { days } = this;
    if (days === undefined) return 0;

    let trimmed = 0;
    while (trimmed < maxRuns && (await this.database.transaction((sql) => trimOldest(sql, days)))) trimmed += 1;
    return trimmed;
  }
}

async function trimOldest(sql: Sql, days: number): Promise<boolean> {
  const log = await oldestLog.first(sql, [days]);
  if (!log) return false;

  await sql.query(forgetFacts, [log.id, log.through, await readHash(sql, log)]);
  return true;
}

async function readHash(sql: Sql, { id, thread_id, through }: OldLog): Promise<string> {
  let hash = '';
  for (let seq = 0; seq < through;) {
    const facts = (await page.all(sql, [id, thread_id, seq, through])).map(toFact);
    hash = facts.reduce(chainHash, hash);
    seq = facts.at(-1)?.seq ?? through;
  }
  return hash;
}
