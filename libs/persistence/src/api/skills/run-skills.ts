import { type RunId, type SkillFile, type SkillId, skillFile } from '@rondo/contract';
import { z } from 'zod';
import { byteColumn, createQuery } from '../../database/checked-query';
import type { Database } from '../../database/database';
import { readableJson } from '../../database/stored-text';

/** A version of a skill that a run names. */
export interface RunSkill {
  readonly runId: RunId;
  readonly skillId: SkillId;
  readonly version: number;
}

const filesOfRun = `
from runs join skills using (account_id) join skill_files as each on each.skill_id = skills.id
where runs.id = $1 and skills.id = $2 and each.version = $3
  and (${readableJson('runs.settings')}::jsonb -> 'skills') @> jsonb_build_array(jsonb_build_object('id', $2::text, 'version', $3::int))`;

const listFiles = createQuery(
  skillFile,
  `select each.path, each.size, each.sha256, each.is_executable ${filesOfRun} order by each.path collate "C"`,
);
const readPart = createQuery(
  z.object({ bytes: byteColumn }),
  `select substring(each.bytes from $5::int + 1 for $6::int) as bytes ${filesOfRun} and each.path = $4`,
);

/** The files of the skills that runs name, and of no others. */
export class RunSkills {
  constructor(private readonly database: Database) {}

  /** Lists the files by their paths. Empty where the run does not name this version, or it was deleted. */
  listFiles({ runId, skillId, version }: RunSkill): Promise<readonly SkillFile[]> {
    return listFiles.all(this.database.sql, [runId, skillId, version]);
  }

  /** Undefined where there is no such file. */
  async readPart(
    { runId, skillId, version }: RunSkill,
    part: { readonly path: string; readonly offset: number; readonly bytes: number },
  ): Promise<Buffer | undefined> {
    const values = [runId, skillId, version, part.path, part.offset, part.bytes];
    return (await readPart.first(this.database.sql, values))?.bytes;
  }
}
