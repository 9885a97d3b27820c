import type { Schedule, WebhookTrigger } from '@rondo/contract';
import { TerminalError } from '@rondo/domain';
import type { Sql } from '../../database/sql';

/** Writes in the transaction that creates a run, before it. When it rejects, nothing is written. */
export type AlongsideRun = (sql: Sql) => Promise<void>;

/** Another gateway fires it, has fired it, or the schedule was changed. */
export class FiringTaken extends Error {
  override readonly name = 'FiringTaken';
}

/** The due time has an execution: the clock was set back. */
export class AlreadyFired extends Error {
  override readonly name = 'AlreadyFired';
}

/** An earlier run of the trigger is not finished, or an earlier execution has no run yet. */
export class TriggerBusyError extends TerminalError {
  override readonly name = 'TriggerBusyError';

  constructor() {
    super('trigger_busy', 'An earlier run of this trigger is not finished.');
  }
}

/** Forgets runs that are finished or deleted. */
const forgetFinished = `
update trigger_executions set run_may_be_active = false
where trigger_id = $1 and run_may_be_active
  and not exists (select from runs where runs.id = run_id and runs.finished_at is null)`;

const ahead = `
select id from trigger_executions where trigger_id = $1 and (run_may_be_active or (status = 'pending' and id < $2)) limit 1`;

/** Rejects with TriggerBusyError. The caller has locked the trigger. */
export async function requireIdle(
  sql: Sql,
  { id }: Pick<Schedule | WebhookTrigger, 'id'>,
  execution: string,
): Promise<void> {
  await sql.query(forgetFinished, [id]);
  if ((await sql.query(ahead, [id, execution])).length > 0) throw new TriggerBusyError();
}
