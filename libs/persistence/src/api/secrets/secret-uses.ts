import {
  type AccountId,
  type RunId,
  type SecretId,
  type SecretUse,
  callId,
  runId,
  secretId,
  secretName,
  secretUse,
  secretUseId,
} from '@rondo/contract';
import { z } from 'zod';
import { createQuery } from '../../database/checked-query';
import type { Database } from '../../database/database';
import { type Page, type PageRequest, idOfCursor, toPage } from '../page';

export interface SecretUseFilter extends PageRequest {
  readonly accountId: AccountId;
  readonly secretId?: SecretId | undefined;
  readonly runId?: RunId | undefined;
}

const useRow = z.object({
  id: secretUseId,
  secret_id: secretId,
  name: secretName,
  run_id: runId.nullable(),
  call_id: callId.nullable(),
  via: secretUse.shape.via,
  host: z.string(),
  method: z.string(),
  path: z.string(),
  status: z.number().nullable(),
  refusal: secretUse.shape.refusal,
  created_at: z.date(),
});

const newestUses = createQuery(
  useRow,
  `
select id, secret_id, name, run_id, call_id, via, host, method, path, status, refusal, created_at from secret_uses
where account_id = $1 and ($2::text is null or id < $2) and ($4::text is null or secret_id = $4)
  and ($5::text is null or run_id = $5)
order by id desc limit $3`,
);

const prune = `
delete from secret_uses where id in (
  select id from secret_uses where created_at < clock_timestamp() - interval '90 days' limit 5000
) returning id`;

/** What became of the secrets of one account each, for 90 days. */
export class SecretUses {
  constructor(private readonly database: Database) {}

  /** Newest first. */
  async list({ accountId, secretId: secret, runId: run, after, limit }: SecretUseFilter): Promise<Page<SecretUse>> {
    const cursor = after === undefined ? null : idOfCursor(after, secretUseId);
    const rows = await newestUses.all(this.database.sql, [accountId, cursor, limit + 1, secret ?? null, run ?? null]);
    return toPage(
      rows.map(({ call_id: tool_call_id, created_at: at, ...row }) => ({ ...row, tool_call_id, at: at.toISOString() })),
      limit,
    );
  }

  /** Deletes at most 5,000 that are older than 90 days; the next call continues. */
  async prune(): Promise<number> {
    return (await this.database.sql.query(prune)).length;
  }
}
