import type { RunId } from '@rondo/domain';
import type { Sql } from '../sql';

/** The end of a statement that tells the queue of the runs that `from` gives as (id, activation). */
export const outboxOf = (from: string): string => `
insert into outbox (queue, job_id, payload)
select 'runs', id || '-' || activation, json_build_object('run_id', id, 'activation', activation) from ${from}
on conflict (queue, job_id) do nothing`;

const activate = `
with activated as (
  update runs set activation = activation + 1, activated_at = clock_timestamp() where id = $1 returning id, activation
)
${outboxOf('activated')}`;

/** Has a worker look at the run, once the transaction has committed. */
export async function activateRun(sql: Sql, id: RunId): Promise<void> {
  await sql.query(activate, [id]);
}

/** What is set on a run that nobody holds any more and that is to be taken up again. */
export const dueAgain = `
    status = case when stop_requested_at is null then 'queued' else 'stopping' end,
    lease_owner = null,
    lease_expires_at = null,
    activation = activation + 1,
    activated_at = clock_timestamp()`;
