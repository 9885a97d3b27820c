import { type ProjectId, type RunId, projectId } from '@rondo/contract';
import { toPlaceholder } from '@rondo/domain';
import type { Database } from '../../database/database';
import type { Sql } from '../../database/sql';
import { toStoredText } from '../../database/stored-text';
import { z } from 'zod';
import { createQuery } from '../../database/checked-query';

/** A title is tried so often; then the placeholder stays. */
const mostAttempts = 3;
/** A process that has not written a title by then counts as dead. */
const attemptSeconds = 60;

interface FirstInput {
  readonly projectId: ProjectId;
  readonly runId: RunId;
  readonly text: string;
}

/** Locked rows are skipped: a run must not wait for a name, and the next input gives it. */
const beginTitle = `
with untitled as (
  select id from projects where id = $1 and name_source = 'placeholder' and titled_run_id is null
  for no key update skip locked
)
update projects set
  name = $2, titled_run_id = $3, title_due_at = clock_timestamp(), updated_at = clock_timestamp()
from untitled where projects.id = untitled.id`;

/** The first input names a project without a name: by a placeholder at once, and by a title later. */
export async function nameAfterInput(sql: Sql, { projectId, runId, text }: FirstInput): Promise<void> {
  await sql.query(beginTitle, [projectId, toStoredText(toPlaceholder(text)), runId]);
}

/** A title that is to be written. */
export interface DueTitle {
  readonly projectId: ProjectId;
  /** The model of the run with the input. */
  readonly model: string;
  readonly input: string;
}

const giveUp = `
update projects set title_due_at = null
where title_due_at < clock_timestamp() and (title_attempts >= ${mostAttempts} or not exists (
  select from run_inputs where run_id = titled_run_id
))`;

const claimTitles = createQuery(
  z.object({ projectId, model: z.string(), input: z.string() }),
  `
with due as (
  select id from projects where title_due_at < clock_timestamp() order by title_due_at limit $1
  for no key update skip locked
),
claimed as (
  update projects set title_attempts = title_attempts + 1,
    title_due_at = clock_timestamp() + interval '${attemptSeconds} s'
  from due where projects.id = due.id
  returning projects.id, titled_run_id
)
select claimed.id as "projectId", model, text as input
from claimed join runs on runs.id = titled_run_id join run_inputs on run_id = runs.id`,
);

const setTitle = `
update projects set name = $2, name_source = 'model', title_due_at = null, updated_at = clock_timestamp()
where id = $1 and name_source = 'placeholder' and deleted_at is null`;

/** The titles that summarizers write. Each is due in Postgres until it is written, so that no crash loses one (I1). */
export class ProjectTitles {
  constructor(private readonly database: Database) {}

  /** Titles that are due, which no other process gets for a minute. After three attempts none is due any more. */
  async claim(atMost: number): Promise<readonly DueTitle[]> {
    await this.database.sql.query(giveUp);
    return claimTitles.all(this.database.sql, [atMost]);
  }

  /** Has no effect on a project that has got a name meanwhile. */
  async set(projectId: ProjectId, title: string): Promise<void> {
    await this.database.sql.query(setTitle, [projectId, toStoredText(title)]);
  }
}
