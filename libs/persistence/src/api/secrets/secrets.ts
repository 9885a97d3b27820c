import {
  type AccountId,
  type ProjectId,
  type Secret,
  type SecretId,
  type SecretPolicy,
  projectId,
  secretApproval,
  secretId,
  secretMethod,
  secretName,
  secretPlacement,
} from '@rondo/contract';
import { TerminalError } from '@rondo/domain';
import { z } from 'zod';
import { createQuery } from '../../database/checked-query';
import type { Database } from '../../database/database';
import type { Sql } from '../../database/sql';
import { toStoredText } from '../../database/stored-text';
import { lockAccount } from '../lock-account';
import { type Page, type PageRequest, idOfCursor, toPage } from '../page';
import { keepProject } from '../projects/project-row';
import type { RunPlace } from '../sandboxes';

export interface SecretAddress {
  readonly accountId: AccountId;
  readonly secretId: SecretId;
}

/** What a client sets of a secret, besides its value. */
export type SecretFields = Pick<
  Secret,
  'description' | 'allowed_hosts' | 'methods' | 'placement' | 'expires_at' | 'approval'
>;

export interface NewSecret extends SecretAddress {
  readonly name: string;
  readonly projectId: ProjectId | null;
  readonly fields: SecretFields;
  readonly sealed: string;
}

export interface SecretChange extends SecretAddress {
  /** Undefined leaves a field as it is. */
  readonly fields: { readonly [Name in keyof SecretFields]?: SecretFields[Name] | undefined };
  /** Undefined leaves the value as it is. */
  readonly sealed: string | undefined;
}

const secretRow = z.object({
  id: secretId,
  name: secretName,
  project_id: projectId.nullable(),
  description: z.string(),
  allowed_hosts: z.array(z.string()),
  methods: z.array(secretMethod),
  placement: secretPlacement,
  expires_at: z.date().nullable(),
  approval: secretApproval,
  created_at: z.date(),
  updated_at: z.date(),
});
type SecretRow = z.infer<typeof secretRow>;

/** The most secrets of one account. */
export const mostSecrets = 500;

const columns =
  'id, name, project_id, description, allowed_hosts, methods, placement, expires_at, approval, created_at, updated_at';

const countSecrets = createQuery(
  z.object({ count: z.number() }),
  `select count(*)::int as count from secrets where account_id = $1`,
);
const ofName = createQuery(
  z.object({ id: secretId }),
  `select id from secrets where account_id = $1 and name = $2 and project_id is not distinct from $3::text`,
);

const insertSecret = createQuery(
  secretRow,
  `
insert into secrets (id, account_id, project_id, name, description, sealed, allowed_hosts, methods, placement, expires_at, approval)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) returning ${columns}`,
);

const oneSecret = createQuery(secretRow, `select ${columns} from secrets where account_id = $1 and id = $2`);
const lockedSecret = createQuery(secretRow, `${oneSecret.text} for update`);

const newestSecrets = createQuery(
  secretRow,
  `
select ${columns} from secrets
where account_id = $1 and ($2::text is null or id < $2) and ($4::text is null or project_id = $4)
order by id desc limit $3`,
);

const updateSecret = createQuery(
  secretRow,
  `
update secrets set description = $2, allowed_hosts = $3, methods = $4, placement = $5, expires_at = $6,
  approval = $7, sealed = coalesce($8, sealed), updated_at = clock_timestamp()
where id = $1 returning ${columns}`,
);

/** A secret of the project counts before one of the account with the same name. */
const usableIn = createQuery(
  secretRow.pick({ name: true, allowed_hosts: true, methods: true, placement: true }),
  `
select distinct on (name) name, allowed_hosts, methods, placement from secrets
where account_id = $1 and name = any($2::text[])
  and (project_id is null
    or project_id = coalesce($3, (select project_id from threads where threads.id = $4 and threads.account_id = $1)))
order by name, project_id nulls last`,
);

const policiesOfName = createQuery(
  secretRow.pick({ allowed_hosts: true, methods: true, placement: true }),
  `select allowed_hosts, methods, placement from secrets where account_id = $1 and name = $2`,
);

const deleteSecret = `delete from secrets where account_id = $1 and id = $2 returning id`;

/** The secrets of one account each: another account's secret does not exist (`secret_not_found`). */
export class Secrets {
  constructor(private readonly database: Database) {}

  /** Rejects with `secret_name_taken`, `too_many_secrets` and `project_not_found`. */
  create({ accountId, secretId: id, name, projectId: project, fields, sealed }: NewSecret): Promise<Secret> {
    return this.database.transaction(async (sql) => {
      await lockAccount(sql, accountId);
      if (project !== null) await keepProject(sql, { accountId, projectId: project });
      await requireFreePlace(sql, accountId);
      if (await ofName.first(sql, [accountId, name, project]))
        throw new TerminalError('secret_name_taken', `There is a secret ${name} already. Change or delete it.`);
      const values = [id, accountId, project, name, toStoredText(fields.description), sealed, ...policyValues(fields)];
      return toSecret(await insertSecret.first(sql, values), id);
    });
  }

  async get({ accountId, secretId: id }: SecretAddress): Promise<Secret> {
    return toSecret(await oneSecret.first(this.database.sql, [accountId, id]), id);
  }

  /** Newest first. */
  async list({
    accountId,
    projectId: project,
    after,
    limit,
  }: PageRequest & { readonly accountId: AccountId; readonly projectId?: ProjectId | undefined }): Promise<
    Page<Secret>
  > {
    const cursor = after === undefined ? null : idOfCursor(after, secretId);
    const values = [accountId, cursor, limit + 1, project ?? null];
    return toPage((await newestSecrets.all(this.database.sql, values)).map(showSecret), limit);
  }

  /** What a run in that place finds under these names. */
  async listUsable(
    { accountId, projectId: project, threadId: thread }: RunPlace,
    names: readonly string[],
  ): Promise<readonly (SecretPolicy & { readonly name: string })[]> {
    return usableIn.all(this.database.sql, [accountId, names, project ?? null, thread ?? null]);
  }

  /** Lists the policies of this name, of the account itself and of its projects. */
  async listPolicies(accountId: AccountId, name: string): Promise<readonly SecretPolicy[]> {
    return policiesOfName.all(this.database.sql, [accountId, name]);
  }

  update({ accountId, secretId: id, fields, sealed }: SecretChange): Promise<Secret> {
    return this.database.transaction(async (sql) => {
      const known = toSecret(await lockedSecret.first(sql, [accountId, id]), id);
      const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
      const changed: SecretFields = { ...known, ...given };
      const values = [id, toStoredText(changed.description), ...policyValues(changed), sealed ?? null];
      return toSecret(await updateSecret.first(sql, values), id);
    });
  }

  async delete({ accountId, secretId: id }: SecretAddress): Promise<void> {
    const deleted = await this.database.sql.query(deleteSecret, [accountId, id]);
    if (deleted.length === 0) throw secretNotFound(id);
  }
}

const policyValues = ({ allowed_hosts: hosts, methods, placement, expires_at: expiresAt, approval }: SecretFields) => [
  ...[hosts, methods, JSON.stringify(placement)],
  ...[expiresAt === null ? null : new Date(expiresAt), approval],
];

async function requireFreePlace(sql: Sql, accountId: AccountId): Promise<void> {
  const row = await countSecrets.first(sql, [accountId]);
  if (row === undefined || row.count < mostSecrets) return;
  throw new TerminalError('too_many_secrets', `An account may have ${mostSecrets} secrets.`);
}

function toSecret(row: SecretRow | undefined, id: SecretId): Secret {
  if (!row) throw secretNotFound(id);
  return showSecret(row);
}

const showSecret = (row: SecretRow): Secret => ({
  ...row,
  expires_at: row.expires_at?.toISOString() ?? null,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});

const secretNotFound = (id: SecretId): TerminalError =>
  new TerminalError('secret_not_found', `There is no secret ${id}.`);
