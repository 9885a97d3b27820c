import type { RunId } from '@rondo/contract';
import type { Sql } from './sql';

/** The columns of a run that `toOutbox` reads. */
export const activated = 'runs.id, runs.thread_id, runs.activation, runs.queue';

/** The end of a statement that activates runs: one outbox entry for each row of `from`, which has the columns of `activated`. */
export const toOutbox = (from: string): string => `
insert into outbox (queue, job_id, payload)
select queue, id || '-' || activation, json_build_object('run_id', id, 'thread_id', thread_id, 'activation', activation)
from ${from}
on conflict (queue, job_id) do nothing`;

const activate = `
with activated as (
  update runs set activation = activation + 1, activated_at = clock_timestamp() where id = $1 returning ${activated}
)
${toOutbox('activated')}`;

/** Queues a job for the run, which is published once the transaction has committed. */
export async function activateRun(sql: Sql, id: RunId): Promise<void> {
  await sql.query(activate, [id]);
}

/** The assignments that release a run and queue it again. */
export const dueAgain = `
    status = case when stop_requested_at is null then 'queued' else 'stopping' end,
    lease_owner = null,
    lease_expires_at = null,
    activation = activation + 1,
    activated_at = clock_timestamp()`;
