import {
  type AccountId,
  type ApprovalId,
  type NewId,
  type RecordedFact,
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
  secretApproval,
  secretId,
  secretMethod,
  secretName,
  secretPlacement,
  secretUseId,
} from '@rondo/contract';
import { z } from 'zod';
import { createQuery } from '../../database/checked-query';
import type { Database } from '../../database/database';
import type { Sql } from '../../database/sql';
import { toStoredText, readableJson } from '../../database/stored-text';
import { toRun } from '../../run-log/run-row';
import { lockRun } from '../runs/lock-run';
import { type FoundApproval, askForSecret, findSecretApproval } from './secret-approvals';

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
  | { readonly how: 'refused'; readonly refusal: SecretRefusal; readonly reason?: string }
  /** A person has to decide first. `facts`: committed, to publish. */
  | { readonly how: 'awaits'; readonly approval_id: ApprovalId; readonly facts: readonly RecordedFact[] };

type Ruling = Exclude<OpenedSecret, { how: 'opened' }>;

const askedRun = createQuery(
  z.object({ status: runStatus, names: z.array(z.string()).nullable() }),
  `
select status, ${readableJson('settings')} -> 'secrets' as names from runs where id = $1 and account_id = $2`,
);

const policyColumns = `secrets.name, allowed_hosts, methods, placement`;
const policyRow = z.object({
  name: secretName,
  allowed_hosts: z.array(z.string()),
  methods: z.array(secretMethod),
  placement: secretPlacement,
});

/** A secret of the run's project counts before one of the account with the same name. */
const granted = createQuery(
  policyRow,
  `
select distinct on (secrets.name) ${policyColumns} from runs
join secrets on secrets.account_id = runs.account_id
  and (secrets.project_id is null or secrets.project_id = runs.project_id)
  and secrets.name in (select json_array_elements_text(${readableJson('runs.settings')} -> 'secrets'))
where runs.id = $1
order by secrets.name, secrets.project_id nulls last`,
);

const openedRow = policyRow.extend({
  id: secretId,
  account_id: accountId,
  sealed: z.string(),
  is_expired: z.boolean(),
  approval: secretApproval,
});

const ofName = createQuery(
  openedRow,
  `
select id, account_id, sealed, approval, coalesce(expires_at <= clock_timestamp(), false) as is_expired, ${policyColumns} from secrets
where account_id = $1 and name = $2
  and (project_id is null or project_id = (select project_id from runs where id = $3 and account_id = $1))
order by project_id nulls last limit 1`,
);

const insertUse = `
insert into secret_uses (id, account_id, secret_id, name, run_id, call_id, via, host, method, path, refusal)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`;

const awaited = createQuery(
  z.object({ found: z.number() }),
  `
select 1 as found from secret_approvals where run_id = $1 and (
  outcome is null and expires_at > clock_timestamp()
  or outcome = 'approve' and decided_at > clock_timestamp() - interval '20 seconds'
) limit 1`,
);

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
      const ruled = await this.rule(sql, opening, secret);
      if (ruled?.how === 'awaits') return ruled;
      const id = secretUseId.parse(`use_${this.newId()}`);
      const { host, method, path } = opening.request;
      const asked = [opening.accountId, secret.id, opening.name, opening.runId, opening.callId, opening.via];
      await sql.query(insertUse, [id, ...asked, host, method, toStoredText(path), ruled?.refusal ?? null]);
      if (ruled) return ruled;
      const { id: secret_id, account_id, sealed, placement } = secret;
      return { how: 'opened', use_id: id, secret_id, account_id, sealed, placement };
    });
  }

  /** What the host answered. Only the first status of a use counts. */
  async note(use: SecretUseId, status: number): Promise<void> {
    await this.database.sql.query(noteStatus, [use, status]);
  }

  /** Whether a request of the run waits for a person, or did until a moment ago, so that it is worth repeating. */
  async isAwaited(run: RunId): Promise<boolean> {
    return (await awaited.first(this.database.sql, [run])) !== undefined;
  }

  /** Undefined: it may be used. */
  private async rule(sql: Sql, opening: SecretOpening, secret: z.infer<typeof openedRow>): Promise<Ruling | undefined> {
    const refusal = (await this.refusalByRun(sql, opening)) ?? refusalBySecret(secret, opening.request);
    if (refusal !== undefined) return { how: 'refused', refusal };
    return secret.approval === 'none' ? undefined : this.decideByPeople(sql, opening, secret.id);
  }

  /** The run asks once, with its first request. */
  private async decideByPeople(
    sql: Sql,
    { accountId: account, runId: run, name, callId: call, request }: SecretOpening,
    secret: SecretUse['secret_id'],
  ): Promise<Ruling | undefined> {
    if (run === null) return { how: 'refused', refusal: 'not_approved' };
    const known = await findSecretApproval(sql, run, secret);
    if (known) return rulings[known.state](known);
    const locked = toRun(await lockRun(sql, { accountId: account, runId: run }));
    const meanwhile = await findSecretApproval(sql, run, secret);
    if (meanwhile) return rulings[meanwhile.state](meanwhile);
    const asked = await askForSecret(sql, this.newId, { run: locked, secretId: secret, name, callId: call, request });
    return { how: 'awaits', approval_id: asked.id, facts: asked.facts };
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

const rulings: Record<FoundApproval['state'], (found: FoundApproval) => Ruling | undefined> = {
  approved: () => undefined,
  denied: ({ reason }) => ({ how: 'refused', refusal: 'denied', ...(reason !== null && { reason }) }),
  expired: () => ({ how: 'refused', refusal: 'not_approved' }),
  open: ({ id }) => ({ how: 'awaits', approval_id: id, facts: [] }),
};

function refusalBySecret(
  secret: SecretPolicy & { readonly is_expired: boolean },
  { protocol, host, port, method }: SecretRequest,
): SecretRefusal | undefined {
  if (secret.is_expired) return 'expired';
  if (!isAllowedTarget(secret.allowed_hosts, { protocol, hostname: host, port })) return 'host';
  return (secret.methods as readonly string[]).includes(method) ? undefined : 'method';
}
