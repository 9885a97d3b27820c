import {
  type AccountId,
  type CallId,
  type ConnectionOwner,
  type EndUser,
  type McpConnectionId,
  type RunId,
  endUser,
  isTerminal,
  mcpConnectionId,
  mcpConnectionStatus,
  runStatus,
} from '@rondo/contract';
import { z } from 'zod';
import { createQuery } from '../../database/checked-query';
import type { Database } from '../../database/database';
import { toStoredText, readableJson } from '../../database/stored-text';
import type { McpConnectionTarget } from './mcp-connections';

/** One request that would carry a token. */
export interface McpTokenUse {
  readonly accountId: AccountId;
  /** Null: for a server that no run uses yet. */
  readonly runId: RunId | null;
  readonly url: string;
  readonly owner: ConnectionOwner;
}

/** Whose connection it is, or why there can be none. */
export type McpTokenOwner = { readonly user: EndUser | null } | { readonly refusal: string };

const serverOfRun = createQuery(
  z.object({ status: runStatus, end_user: endUser.nullable(), is_named: z.boolean() }),
  `
select status, end_user, exists (
  select from json_array_elements(${readableJson('settings')} -> 'mcp_servers') as servers(server)
  where server ->> 'url' = $3 and server ->> 'connection' = $4
) as is_named
from runs where id = $1 and account_id = $2`,
);

/** A run that has not started waits as a whole, under an id that is of no call. */
const waits = `
select from tool_calls where run_id = $1 and id = $2 and finished_at is null
union all select from runs where id = $1 and started_at is null and finished_at is null`;

const tokenRow = z.object({
  id: mcpConnectionId,
  status: mcpConnectionStatus,
  sealed: z.string().nullable(),
  version: z.number(),
  scopes: z.array(z.string()),
  is_expired: z.boolean(),
  /** Little of its time is left. */
  is_due: z.boolean(),
  /** It was made a moment ago. */
  is_fresh: z.boolean(),
});
export type McpTokenRow = z.infer<typeof tokenRow>;

const selectTokens = createQuery(
  tokenRow,
  `
select id, status, sealed, version, scopes, coalesce(expires_at <= clock_timestamp(), false) as is_expired,
  coalesce(expires_at - clock_timestamp() < least(interval '1 minute', (expires_at - refreshed_at) / 5), false) as is_due,
  coalesce(refreshed_at > clock_timestamp() - interval '5 seconds', false) as is_fresh
from mcp_connections where account_id = $1 and coalesce(end_user, '') = coalesce($2::text, '') and url = $3`,
);

/** A gateway that dies keeps it no longer than that. */
const claim = `
update mcp_connections set refreshing_until = clock_timestamp() + interval '20 seconds'
where id = $1 and version = $2 and (refreshing_until is null or refreshing_until < clock_timestamp()) returning id`;
const release = `update mcp_connections set refreshing_until = null where id = $1 and version = $2`;
const store = `
update mcp_connections set sealed = $3, scopes = coalesce($4, scopes), expires_at = $5, version = version + 1,
  refreshed_at = clock_timestamp(), refreshing_until = null
where id = $1 and version = $2 returning id`;
const expire = `
update mcp_connections set status = 'expired', problem = $3, sealed = null, expires_at = null, version = version + 1,
  refreshing_until = null
where id = $1 and version = $2`;

/** Tokens as they are at a certain count. */
interface McpTokenVersion {
  readonly id: McpConnectionId;
  readonly version: number;
}

/** The tokens of connections, for one request each. They are changed by the gateway that has claimed them, and by no two at once. */
export class McpTokens {
  constructor(private readonly database: Database) {}

  /** By what the run is at this moment: its settings name the server, and it is not over. */
  async findOwner({ accountId, runId, url, owner }: McpTokenUse): Promise<McpTokenOwner> {
    if (runId === null)
      return owner === 'account' ? { user: null } : { refusal: 'only a run with a `user` has such a connection' };
    const run = await serverOfRun.first(this.database.sql, [runId, accountId, url, owner]);
    if (!run?.is_named) return { refusal: 'the run does not name this server' };
    if (isTerminal(run.status)) return { refusal: 'the run is over' };
    if (owner === 'account') return { user: null };
    return run.end_user === null ? { refusal: 'the run has no `user`' } : { user: run.end_user };
  }

  /** Whether this call of the run, or the run before its start, can wait for a person. */
  async canWait(run: RunId, call: CallId): Promise<boolean> {
    return (await this.database.sql.query(waits, [run, call])).length > 0;
  }

  find({ accountId, user, url }: McpConnectionTarget): Promise<McpTokenRow | undefined> {
    return selectTokens.first(this.database.sql, [accountId, user, url]);
  }

  /** False where another gateway refreshes them, or has just done so. */
  async claim({ id, version }: McpTokenVersion): Promise<boolean> {
    return (await this.database.sql.query(claim, [id, version])).length > 0;
  }

  async release({ id, version }: McpTokenVersion): Promise<void> {
    await this.database.sql.query(release, [id, version]);
  }

  /** False where the connection was deleted or connected anew meanwhile: then these tokens are not used. */
  async store(
    { id, version }: McpTokenVersion,
    tokens: { readonly sealed: string; readonly scopes: readonly string[] | null; readonly expiresAt: Date | null },
  ): Promise<boolean> {
    const values = [id, version, tokens.sealed, tokens.scopes, tokens.expiresAt];
    return (await this.database.sql.query(store, values)).length > 0;
  }

  /** They are of no use any more: a person has to connect again. */
  async expire({ id, version }: McpTokenVersion, problem: string): Promise<void> {
    await this.database.sql.query(expire, [id, version, toStoredText(problem)]);
  }
}
