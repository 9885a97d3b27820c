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

/** Not read where it is not asked for. */
const counted = z.number().nullable();
const ifAsked = (name: keyof QuotaUsage, value: string): string =>
  `case when '${name}' = any($2::text[]) then ${value} end as ${name}`;

const names = [
  'api_keys',
  'threads',
  'message_bytes',
  'image_bytes',
  'file_bytes',
  'workspaces',
  'active_runs',
  'triggers',
  'webhook_endpoints',
] as const satisfies readonly (keyof QuotaUsage)[];

/** Threads that are deleted count no more, although their data is deleted later. */
const readUsage = createQuery(
  z.object(Object.fromEntries(names.map((name) => [name, counted])) as Record<keyof QuotaUsage, typeof counted>), // the same names
  `
with kept as materialized (
  select id, message_bytes, is_workspace from threads where account_id = $1 and deleted_at is null limit ${mostRows}
)
select
  ${[
    ifAsked(
      'api_keys',
      count('select from api_keys where account_id = $1 and revoked_at is null and coalesce(expires_at > now(), true)'),
    ),
    ifAsked('threads', '(select count(*)::int from kept where not is_workspace)'),
    ifAsked('message_bytes', '(select coalesce(sum(message_bytes), 0)::float8 from kept)'),
    ifAsked('image_bytes', sum('select octet_length(bytes) as bytes from blobs where account_id = $1')),
    ifAsked('file_bytes', sum('select size as bytes from files where account_id = $1')),
    ifAsked('workspaces', count('select from kept join sandboxes on sandboxes.thread_id = kept.id')),
    ifAsked('active_runs', count(activeOfAccount)),
    ifAsked('triggers', count('select from triggers where account_id = $1')),
    ifAsked('webhook_endpoints', count('select from webhook_endpoints where account_id = $1')),
  ].join(',\n  ')}`,
);

/** Reads at most 200,000 rows of each kind: not for every request. Without what is not asked for. */
export async function readQuotaUsage(
  { sql }: Pick<Database, 'sql'>,
  account: AccountId,
  asked: readonly (keyof QuotaUsage)[] = names,
): Promise<QuotaUsage> {
  const row = await readUsage.first(sql, [account, asked]);
  return Object.fromEntries(names.map((name) => [name, row?.[name] ?? 0] as const)) as Record<keyof QuotaUsage, number>; // the same names
}
