import {
  type AccountId,
  type NewId,
  type RunId,
  type SecretPolicy,
  type SecretRefusal,
  type SecretRequest,
  type SecretUse,
  type SecretUseId,
  accountId,
  isAllowedTarget,
  isTerminal,
  runStatus,
  secretId,
  secretMethod,
  secretName,
  secretPlacement,
  secretUseId,
} from '@rondo/contract';
import { z } from 'zod';
import { checked } from '../../database/checked-query';
import type { Database } from '../../database/database';
import type { Sql } from '../../database/sql';
import { storedText } from '../../database/stored-text';

/** One request that would carry a secret. */
export interface SecretOpening extends Pick<SecretUse, 'name' | 'via'> {
  readonly accountId: AccountId;
  /** Null: for a server that no run uses yet. */
  readonly runId: RunId | null;
  readonly callId: SecretUse['tool_call_id'];
  readonly request: SecretRequest;
}

export type OpenedSecret =
  | {
      readonly how: 'opened';
      readonly use_id: SecretUseId;
      readonly secret_id: SecretUse['secret_id'];
      readonly account_id: AccountId;
      readonly sealed: string;
      readonly placement: SecretPolicy['placement'];
    }
  | { readonly how: 'refused'; readonly refusal: SecretRefusal };

const askedRun = checked(
  z.object({ status: runStatus, names: z.array(z.string()).nullable() }),
  `
select status, settings -> 'secrets' as names from runs where id = $1 and account_id = $2`,
);

const policyColumns = `secrets.name, allowed_hosts, methods, placement`;
const policyRow = z.object({
  name: secretName,
  allowed_hosts: z.array(z.string()),
  methods: z.array(secretMethod),
  placement: secretPlacement,
});

/** A secret of the run's project counts before one of the account with the same name. */
const granted = checked(
  policyRow,
  `
select distinct on (secrets.name) ${policyColumns} from runs
join secrets on secrets.account_id = runs.account_id
  and (secrets.project_id is null or secrets.project_id = runs.project_id)
  and secrets.name in (select json_array_elements_text(runs.settings -> 'secrets'))
where runs.id = $1
order by secrets.name, secrets.project_id nulls last`,
);

const openedRow = policyRow.extend({
  id: secretId,
  account_id: accountId,
  sealed: z.string(),
  is_expired: z.boolean(),
});

const ofName = checked(
  openedRow,
  `
select id, account_id, sealed, coalesce(expires_at <= clock_timestamp(), false) as is_expired, ${policyColumns} from secrets
where account_id = $1 and name = $2
  and (project_id is null or project_id = (select project_id from runs where id = $3 and account_id = $1))
order by project_id nulls last limit 1`,
);

const insertUse = `
insert into secret_uses (id, account_id, secret_id, name, run_id, call_id, via, host, method, path, refusal)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`;

const noteStatus = `update secret_uses set status = $2 where id = $1 and status is null and refusal is null`;

/**
 * Decides about each request that would carry a secret, by what the tables say at that moment: so a secret that is revoked is
 * refused to the next request. The request is recorded before its sealed value leaves Postgres.
 */
export class SecretOpenings {
  constructor(
    private readonly database: Database,
    private readonly newId: NewId,
  ) {}

  /** The secrets that the run names and that there are, and where they may go. */
  async findGranted(run: RunId): Promise<readonly (SecretPolicy & { name: string })[]> {
    return granted.all(this.database.sql, [run]);
  }

  open(opening: SecretOpening): Promise<OpenedSecret> {
    return this.database.transaction(async (sql) => {
      const secret = await ofName.first(sql, [opening.accountId, opening.name, opening.runId]);
      if (!secret) return { how: 'refused', refusal: 'revoked' };
      const refusal = (await this.refusalByRun(sql, opening)) ?? refusalBySecret(secret, opening.request);
      const id = secretUseId.parse(`use_${this.newId()}`);
      const { host, method, path } = opening.request;
      const asked = [opening.accountId, secret.id, opening.name, opening.runId, opening.callId, opening.via];
      await sql.query(insertUse, [id, ...asked, host, method, storedText(path), refusal ?? null]);
      if (refusal !== undefined) return { how: 'refused', refusal };
      const { id: secret_id, account_id, sealed, placement } = secret;
      return { how: 'opened', use_id: id, secret_id, account_id, sealed, placement };
    });
  }

  /** What the host answered. Only the first status of a use counts. */
  async note(use: SecretUseId, status: number): Promise<void> {
    await this.database.sql.query(noteStatus, [use, status]);
  }

  private async refusalByRun(
    sql: Sql,
    { accountId: account, runId: run, name, via }: SecretOpening,
  ): Promise<SecretRefusal | undefined> {
    if (run === null) return via === 'mcp' ? undefined : 'not_named';
    const asked = await askedRun.first(sql, [run, account]);
    if (!asked) return 'not_named';
    if (isTerminal(asked.status)) return 'run_over';
    // The headers of a server name it themselves, and are sealed.
    return via === 'mcp' || asked.names?.includes(name) ? undefined : 'not_named';
  }
}

function refusalBySecret(
  secret: SecretPolicy & { readonly is_expired: boolean },
  { protocol, host, port, method }: SecretRequest,
): SecretRefusal | undefined {
  if (secret.is_expired) return 'expired';
  if (!isAllowedTarget(secret.allowed_hosts, { protocol, hostname: host, port })) return 'host';
  return (secret.methods as readonly string[]).includes(method) ? undefined : 'method';
}
