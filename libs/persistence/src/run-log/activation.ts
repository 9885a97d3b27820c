import type { RunId } from '@rondo/contract';
import type { Sql } from '../database/sql';

/** What `outboxOf` needs of a run. */
export const activated = 'runs.id, runs.thread_id, runs.activation, runs.queue';

/** The end of a statement that tells their queues of the runs in `from`, which has the columns of `activated`. */
export const outboxOf = (from: string): string => `
insert into outbox (queue, job_id, payload)
select queue, id || '-' || activation, json_build_object('run_id', id, 'thread_id', thread_id, 'activation', activation)
from ${from}
on conflict (queue, job_id) do nothing`;

const activate = `
with activated as (
  update runs set activation = activation + 1, activated_at = clock_timestamp() where id = $1 returning ${activated}
)
${outboxOf('activated')}`;

/** Has its queue look at the run, once the transaction has committed. */
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
