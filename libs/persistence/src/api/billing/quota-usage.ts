import type { AccountId } from '@rondo/contract';
import type { Database } from '../../database/database';
import { z } from 'zod';
import { createQuery } from '../../database/checked-query';
import { activeOfAccount } from '../runs/read-runs';

/** What of an account adds up. Bytes are those of stored content, without indexes. */
export interface QuotaUsage {
  /** That are neither revoked nor expired. */
  readonly api_keys: number;
  readonly threads: number;
  readonly message_bytes: number;
  readonly image_bytes: number;
  readonly file_bytes: number;
  readonly workspaces: number;
  readonly active_runs: number;
  /** Schedules and webhook triggers. */
  readonly triggers: number;
  readonly webhook_endpoints: number;
}

/** Rows of a kind that are counted at most, so that the largest account costs no more than this. */
const mostRows = 200_000;

const count = (rows: string): string => `(select count(*)::int from (${rows} limit ${mostRows}) as counted)`;
const sum = (rows: string): string =>
  `(select coalesce(sum(bytes), 0)::float8 from (${rows} limit ${mostRows}) as counted)`;

const counted = z.number();
const quotaUsage = z.object({
  api_keys: counted,
  threads: counted,
  message_bytes: counted,
  image_bytes: counted,
  file_bytes: counted,
  workspaces: counted,
  active_runs: counted,
  triggers: counted,
  webhook_endpoints: counted,
});

/** Threads that are deleted count no more, although their data is deleted later. */
const readUsage = createQuery(
  quotaUsage,
  `
with kept as materialized (
  select id, message_bytes from threads where account_id = $1 and deleted_at is null limit ${mostRows}
)
select
  ${count('select from api_keys where account_id = $1 and revoked_at is null and coalesce(expires_at > now(), true)')} as api_keys,
  (select count(*)::int from kept) as threads,
  (select coalesce(sum(message_bytes), 0)::float8 from kept) as message_bytes,
  ${sum('select octet_length(bytes) as bytes from blobs where account_id = $1')} as image_bytes,
  ${sum('select size as bytes from files where account_id = $1')} as file_bytes,
  ${count('select from kept join sandboxes on sandboxes.thread_id = kept.id')} as workspaces,
  ${count(activeOfAccount)} as active_runs,
  ${count('select from triggers where account_id = $1')} as triggers,
  ${count('select from webhook_endpoints where account_id = $1')} as webhook_endpoints`,
);

const nothing: QuotaUsage = {
  api_keys: 0,
  threads: 0,
  message_bytes: 0,
  image_bytes: 0,
  file_bytes: 0,
  workspaces: 0,
  active_runs: 0,
  triggers: 0,
  webhook_endpoints: 0,
};

/** Reads at most 200,000 rows of each kind: not for every request. */
export async function readQuotaUsage({ sql }: Pick<Database, 'sql'>, account: AccountId): Promise<QuotaUsage> {
  const row = await readUsage.first(sql, [account]);
  return row ?? nothing;
}
