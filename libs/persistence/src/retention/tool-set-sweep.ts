import type { Database } from '../database/database';

/** Workers note the use of a set at most hourly, so a set that a run is about to start with is never this old. */
const minDays = 1;

const deleteUnused = `
delete from tool_sets
where last_used_at < clock_timestamp() - $1::float * interval '1 day'
  and not exists (select from runs where runs.finished_at is null and runs.tool_set = tool_sets.hash)
returning hash`;

/**
 * Deletes tool sets with which no run has started for as many days as facts are kept, and which no unfinished run needs.
 * Deletes nothing if `days` is undefined.
 */
export class ToolSetSweep {
  constructor(
    private readonly database: Database,
    private readonly days: number | undefined,
  ) {}

  /** Returns how many it has deleted. Processes may call it concurrently. */
  async sweep(): Promise<number> {
    if (this.days === undefined) return 0;
    return (await this.database.sql.query(deleteUnused, [Math.max(this.days, minDays)])).length;
  }
}
