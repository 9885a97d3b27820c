import type { Database } from '../database/database';

/** Of one statement, since a file can be long. */
const most = 20;

const deleteExpired = `
delete from files where id in (
  select id from files where created_at < clock_timestamp() - interval '1 day'
    and not exists (select from run_files where run_files.file_id = files.id)
  order by created_at limit ${most}
) returning id`;

/** Deletes uploads that no run refers to a day after they began, also those that never ended. */
export class FileSweep {
  constructor(private readonly database: Database) {}

  /** Returns how many it has deleted. */
  async sweep(): Promise<number> {
    for (let deleted = 0; ; deleted += most) {
      const { length } = await this.database.sql.query(deleteExpired);
      if (length < most) return deleted + length;
    }
  }
}
