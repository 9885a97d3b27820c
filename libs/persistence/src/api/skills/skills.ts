import {
  type AccountId,
  type RunSkill,
  type Skill,
  type SkillFile,
  type SkillFrontMatter,
  type SkillId,
  type SkillVersion,
  sha256,
  skillFile,
  skillId,
  skillName,
} from '@rondo/contract';
import { TerminalError } from '@rondo/domain';
import { z } from 'zod';
import { byteColumn, createQuery, jsonDocument, sizeColumn } from '../../database/checked-query';
import type { Database } from '../../database/database';
import type { Sql } from '../../database/sql';
import { lockAccount } from '../lock-account';
import { type Page, type PageRequest, idOfCursor, readVersionCursor, toPage, toVersionPage } from '../page';
import { readableJson } from '../../database/stored-text';

export interface SkillAddress {
  readonly accountId: AccountId;
  readonly skillId: SkillId;
}

export interface SkillVersionAddress extends SkillAddress {
  readonly version: number;
}

export interface StoredSkillFile extends SkillFile {
  readonly bytes: Buffer;
}

/** What was unpacked and checked. `sha256` is that of the paths, modes and hashes of the files. */
export interface NewSkillVersion {
  readonly frontMatter: SkillFrontMatter;
  readonly sha256: string;
  readonly files: readonly StoredSkillFile[];
}

/** What an account may have. */
export const skillQuotas = { skills: 200, versions: 100, bytes: 256 * 1024 * 1024 } as const;

const versionRow = z.object({
  skill_id: skillId,
  name: skillName,
  version: z.number(),
  front_matter: jsonDocument<SkillFrontMatter>(),
  sha256,
  size: z.number(),
  file_count: z.number(),
  created_at: z.date(),
  first_at: z.date(),
});
type VersionRow = z.infer<typeof versionRow>;

const versions = `
select each.skill_id, skills.name, each.version, each.front_matter, each.sha256, each.size, each.file_count,
  each.created_at, skills.created_at as first_at
from skills join skill_versions as each on each.skill_id = skills.id`;

const newestOfSkill = createQuery(
  versionRow,
  `${versions} and each.version = skills.version where skills.account_id = $1 and skills.id = $2`,
);
const newestOfName = createQuery(
  versionRow,
  `${versions} and each.version = skills.version where skills.account_id = $1 and skills.name = $2`,
);
const newestSkills = createQuery(
  versionRow,
  `${versions} and each.version = skills.version
where skills.account_id = $1 and ($2::text is null or skills.id < $2) order by skills.id desc limit $3`,
);
const oneVersion = createQuery(
  versionRow,
  `${versions} where skills.account_id = $1 and skills.id = $2 and each.version = $3`,
);
const newestVersions = createQuery(
  versionRow,
  `${versions} where skills.account_id = $1 and skills.id = $2 and each.version < $3 order by each.version desc limit $4`,
);

const filesOfVersion = createQuery(
  skillFile,
  `
select path, size, sha256, is_executable from skill_files where skill_id = $1 and version = $2 order by path collate "C"`,
);
const oneFile = createQuery(
  z.object({ bytes: byteColumn }),
  `select bytes from skill_files where skill_id = $1 and version = $2 and path = $3`,
);

const useOfAccount = createQuery(
  z.object({ skills: z.number(), bytes: sizeColumn }),
  `
select count(distinct skills.id)::int as skills, coalesce(sum(each.size), 0)::text as bytes
from skills left join skill_versions as each on each.skill_id = skills.id where skills.account_id = $1`,
);
const insertSkill = `insert into skills (id, account_id, name, version) values ($1, $2, $3, 1)`;
const advance = `update skills set version = $2 where id = $1`;
const insertVersion = `
insert into skill_versions (skill_id, version, front_matter, sha256, size, file_count) values ($1, $2, $3, $4, $5, $6)`;
const insertFile = `
insert into skill_files (skill_id, version, path, size, sha256, is_executable, bytes) values ($1, $2, $3, $4, $5, $6, $7)`;

const unfinishedRun = `
select 1 from runs where account_id = $1 and finished_at is null
  and (${readableJson('settings')}::jsonb -> 'skills') @> jsonb_build_array(jsonb_build_object('id', $2::text)) limit 1`;
const deleteSkill = `delete from skills where account_id = $1 and id = $2 returning id`;

/** The skills of one account each: another account's skill does not exist (`skill_not_found`). */
export class Skills {
  constructor(
    private readonly database: Database,
    private readonly newId: () => string,
  ) {}

  /**
   * Stores a new skill, or the next version of the one that has the name. The same files as in its newest version make no other
   * one. Rejects with `too_many_skills` and `skill_quota_exceeded`.
   */
  store(accountId: AccountId, given: NewSkillVersion): Promise<Skill> {
    return this.database.transaction(async (sql) => {
      await lockAccount(sql, accountId);
      const known = await newestOfName.first(sql, [accountId, given.frontMatter.name]);
      if (known?.sha256 === given.sha256) return toSkill(known);
      await requirePlace(sql, accountId, { given, known });
      const id = known?.skill_id ?? skillId.parse(`skl_${this.newId()}`);
      const version = (known?.version ?? 0) + 1;
      if (known) await sql.query(advance, [id, version]);
      else await sql.query(insertSkill, [id, accountId, given.frontMatter.name]);
      await insertFiles(sql, { id, version }, given);
      return readSkill(sql, { accountId, skillId: id });
    });
  }

  get(address: SkillAddress): Promise<Skill> {
    return readSkill(this.database.sql, address);
  }

  /** The newest skills first. */
  async list({ accountId, after, limit }: PageRequest & { readonly accountId: AccountId }): Promise<Page<Skill>> {
    const before = after === undefined ? null : idOfCursor(after, skillId);
    const rows = await newestSkills.all(this.database.sql, [accountId, before, limit + 1]);
    return toPage(rows.map(toSkill), limit);
  }

  async getVersion({ accountId, skillId: id, version }: SkillVersionAddress): Promise<SkillVersion> {
    const row = await oneVersion.first(this.database.sql, [accountId, id, version]);
    if (!row) throw skillNotFound(`${id}, version ${version}`);
    return toVersion(row);
  }

  /** Newest first. */
  async listVersions({
    accountId,
    skillId: id,
    after,
    limit,
  }: SkillAddress & PageRequest): Promise<Page<SkillVersion>> {
    await readSkill(this.database.sql, { accountId, skillId: id });
    const values = [accountId, id, readVersionCursor(after), limit + 1];
    const rows = await newestVersions.all(this.database.sql, values);
    return toVersionPage(rows.map(toVersion), limit);
  }

  /** Of each name with an optional version, undefined where there is none: in the order of the names. */
  findVersions(
    accountId: AccountId,
    named: readonly { readonly name: string; readonly version?: number | undefined }[],
  ): Promise<readonly (SkillVersion | undefined)[]> {
    const { sql } = this.database;
    return Promise.all(
      named.map(async ({ name, version }) => {
        const newest = await newestOfName.first(sql, [accountId, name]);
        if (!newest || version === undefined || version === newest.version) return newest && toVersion(newest);
        const row = await oneVersion.first(sql, [accountId, newest.skill_id, version]);
        return row && toVersion(row);
      }),
    );
  }

  /** By their paths. */
  async listFiles(address: SkillVersionAddress): Promise<readonly SkillFile[]> {
    const { skill_id: id, version } = await this.getVersion(address);
    return filesOfVersion.all(this.database.sql, [id, version]);
  }

  /** Rejects with `skill_file_not_found`, too. */
  async readFile(address: SkillVersionAddress, path: string): Promise<Buffer> {
    const { skill_id: id, version } = await this.getVersion(address);
    const row = path.includes('\0') ? undefined : await oneFile.first(this.database.sql, [id, version, path]);
    if (!row) throw new TerminalError('skill_file_not_found', `The skill has no file ${path}.`);
    return row.bytes;
  }

  /** Rejects with `skill_in_use` while a run that is not finished names it. */
  async delete({ accountId, skillId: id }: SkillAddress): Promise<void> {
    await this.database.transaction(async (sql) => {
      await readSkill(sql, { accountId, skillId: id });
      const used = await sql.query(unfinishedRun, [accountId, id]);
      if (used.length > 0)
        throw new TerminalError(
          'skill_in_use',
          'A run that is not finished names this skill. Stop it, or wait for its end.',
        );
      await sql.query(deleteSkill, [accountId, id]);
    });
  }
}

async function requirePlace(
  sql: Sql,
  accountId: AccountId,
  { given, known }: { readonly given: NewSkillVersion; readonly known: VersionRow | undefined },
): Promise<void> {
  const use = await useOfAccount.first(sql, [accountId]);
  if (!use) return;
  if (!known && use.skills >= skillQuotas.skills)
    throw new TerminalError('too_many_skills', `An account may have ${skillQuotas.skills} skills.`);
  if (known && known.version >= skillQuotas.versions)
    throw new TerminalError(
      'too_many_skills',
      `A skill may have ${skillQuotas.versions} versions. Delete the skill first.`,
    );
  if (use.bytes + toSize(given) > skillQuotas.bytes)
    throw new TerminalError(
      'skill_quota_exceeded',
      `The skills of an account can have ${skillQuotas.bytes} bytes together.`,
    );
}

const toSize = ({ files }: NewSkillVersion): number => files.reduce((sum, { size }) => sum + size, 0);

async function insertFiles(
  sql: Sql,
  { id, version }: { readonly id: SkillId; readonly version: number },
  given: NewSkillVersion,
): Promise<void> {
  const { frontMatter, sha256, files } = given;
  await sql.query(insertVersion, [id, version, JSON.stringify(frontMatter), sha256, toSize(given), files.length]);
  for (const file of files)
    await sql.query(insertFile, [id, version, file.path, file.size, file.sha256, file.is_executable, file.bytes]);
}

/** As a run has them from its creation on: by name. */
export const toRunSkills = (found: readonly (SkillVersion | undefined)[]): RunSkill[] =>
  found
    .flatMap((one) => one ?? [])
    .map(({ skill_id: id, name, version, sha256: hash, description }) => ({
      id,
      name,
      version,
      sha256: hash,
      description,
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));

async function readSkill(sql: Sql, { accountId, skillId: id }: SkillAddress): Promise<Skill> {
  const row = await newestOfSkill.first(sql, [accountId, id]);
  if (!row) throw skillNotFound(id);
  return toSkill(row);
}

const toVersion = ({ front_matter, created_at, first_at: _, ...row }: VersionRow): SkillVersion => ({
  ...front_matter,
  ...row,
  created_at: created_at.toISOString(),
});

function toSkill(row: VersionRow): Skill {
  const { skill_id: id, created_at: updatedAt, ...version } = toVersion(row);
  return { id, ...version, created_at: row.first_at.toISOString(), updated_at: updatedAt };
}

const skillNotFound = (what: string): TerminalError =>
  new TerminalError('skill_not_found', `There is no skill ${what}.`);
