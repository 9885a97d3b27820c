import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from './sql';

const everyMs = 1_000;
/** The beats that an owner may miss. A worker that does not get the processor for so long is slow, not dead. */
const lateAfterMs = 2_500;

const beat = `
insert into heartbeats (owner) values ($1)
on conflict (owner) do update set beat_at = default, postgres_since = default`;
const forget = `delete from heartbeats where owner = $1`;

/**
 * The condition on a row of `heartbeats` that its owner is dead: it is late by the newest beat of all owners, so that an
 * outage of Postgres or of the pooler, which holds up everyone, makes no one late.
 */
export const isLate = `postgres_since = pg_postmaster_start_time()
  and beat_at < (select max(beat_at) from heartbeats) - interval '${lateAfterMs} ms'`;

/** How a process shows that it lives where no lock can: it writes a row each second, until the signal aborts. */
export async function beatUntil(leaving: AbortSignal, { owner, sql }: { owner: string; sql: Sql }): Promise<void> {
  const write = (statement: string) => sql.query(statement, [owner]).catch(() => undefined); // Postgres is unavailable
  while (!leaving.aborted) {
    await write(beat);
    await sleep(everyMs, undefined, { signal: leaving, ref: false }).catch(() => undefined); // leaving
  }
  await write(forget);
}
