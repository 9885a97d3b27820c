import {
  type AccountId,
  type EndUser,
  type McpConnection,
  type McpConnectionId,
  endUser,
  mcpConnectionId,
  mcpConnectionStatus,
} from '@rondo/contract';
import { TerminalError } from '@rondo/domain';
import { z } from 'zod';
import { createQuery } from '../../database/checked-query';
import type { Database } from '../../database/database';
import type { Sql } from '../../database/sql';
import { lockAccount } from '../lock-account';
import { type Page, type PageRequest, idOfCursor, toPage } from '../page';

export interface McpConnectionAddress {
  readonly accountId: AccountId;
  readonly mcpConnectionId: McpConnectionId;
}

/** What one person, or the whole account, connects. There is one connection of it. */
export interface McpConnectionTarget {
  readonly accountId: AccountId;
  /** Null: the account. */
  readonly user: EndUser | null;
  readonly url: string;
}

/** A page that leads a person to the authorization server. */
export interface NewMcpLink {
  readonly hash: string;
  readonly scopes: readonly string[];
  readonly begunBy: string;
  /** The browser that it is for, where one has begun it. */
  readonly sessionId: string | null;
  /** A call that waits for the connection. */
  readonly callId: string | null;
  readonly validMs: number;
}

const connectionRow = z.object({
  id: mcpConnectionId,
  end_user: endUser.nullable(),
  url: z.string(),
  status: mcpConnectionStatus,
  problem: z.string().nullable(),
  issuer: z.string().nullable(),
  client_id: z.string().nullable(),
  scopes: z.array(z.string()),
  expires_at: z.date().nullable(),
  connected_by: z.string().nullable(),
  connected_at: z.date().nullable(),
  created_at: z.date(),
});
type ConnectionRow = z.infer<typeof connectionRow>;

/** The most connections of one account. */
export const mostMcpConnections = 10_000;

const columns =
  'id, end_user, url, status, problem, issuer, client_id, scopes, expires_at, connected_by, connected_at, created_at';

const countConnections = createQuery(
  z.object({ count: z.number() }),
  `select count(*)::int as count from mcp_connections where account_id = $1`,
);
const ofTarget = createQuery(
  connectionRow,
  `select ${columns} from mcp_connections where account_id = $1 and coalesce(end_user, '') = coalesce($2::text, '') and url = $3`,
);
const insertConnection = createQuery(
  connectionRow,
  `
insert into mcp_connections (id, account_id, end_user, url, status, scopes) values ($1, $2, $3, $4, 'pending', '{}')
returning ${columns}`,
);
const setGiven = `update mcp_connections set given = $2 where id = $1`;
const dropOldLinks = `
delete from mcp_connection_links where connection_id = $1 and (expires_at < clock_timestamp() or call_id = $2)`;
const insertLink = `
insert into mcp_connection_links (hash, connection_id, scopes, begun_by, session_id, call_id, expires_at)
values ($1, $2, $3, $4, $5, $6, clock_timestamp() + $7 * interval '1 millisecond')`;

const oneConnection = createQuery(
  connectionRow,
  `select ${columns} from mcp_connections where account_id = $1 and id = $2`,
);
const newestConnections = createQuery(
  connectionRow,
  `
select ${columns} from mcp_connections
where account_id = $1 and ($2::text is null or id < $2) and ($4::text is null or end_user = $4)
  and ($5::text is null or url = $5)
order by id desc limit $3`,
);
const deleteConnection = createQuery(
  z.object({ sealed: z.string().nullable() }),
  `delete from mcp_connections where account_id = $1 and id = $2 returning sealed`,
);

/** The connections of one account each: another account's does not exist (`mcp_connection_not_found`). */
export class McpConnections {
  constructor(
    private readonly database: Database,
    private readonly newId: () => string,
  ) {}

  /**
   * The connection of the target, also one that there is already, with one more page that leads to it. `seal` is given its id, and
   * resolves to the client that the account has registered; undefined leaves the one before. Rejects with `too_many_mcp_connections`.
   */
  begin(
    target: McpConnectionTarget,
    { link, seal }: { readonly link: NewMcpLink; readonly seal?: (id: McpConnectionId) => string },
  ): Promise<McpConnection> {
    return this.database.transaction(async (sql) => {
      await lockAccount(sql, target.accountId);
      const connection = (await this.find(sql, target)) ?? (await this.insert(sql, target));
      if (seal) await sql.query(setGiven, [connection.id, seal(connection.id)]);
      await sql.query(dropOldLinks, [connection.id, link.callId]);
      const { hash, scopes, begunBy, sessionId, callId, validMs } = link;
      await sql.query(insertLink, [hash, connection.id, scopes, begunBy, sessionId, callId, validMs]);
      return connection;
    });
  }

  async get({ accountId, mcpConnectionId: id }: McpConnectionAddress): Promise<McpConnection> {
    return toConnection(await oneConnection.first(this.database.sql, [accountId, id]), id);
  }

  /** Newest first. */
  async list({
    accountId,
    user,
    url,
    after,
    limit,
  }: PageRequest & {
    readonly accountId: AccountId;
    readonly user?: EndUser | undefined;
    readonly url?: string | undefined;
  }): Promise<Page<McpConnection>> {
    const cursor = after === undefined ? null : idOfCursor(after, mcpConnectionId);
    const values = [accountId, cursor, limit + 1, user ?? null, url ?? null];
    return toPage((await newestConnections.all(this.database.sql, values)).map(showConnection), limit);
  }

  /** Resolves to what was sealed of it. */
  async delete({ accountId, mcpConnectionId: id }: McpConnectionAddress): Promise<string | null> {
    const deleted = await deleteConnection.first(this.database.sql, [accountId, id]);
    if (!deleted) throw connectionNotFound(id);
    return deleted.sealed;
  }

  private async find(sql: Sql, { accountId, user, url }: McpConnectionTarget): Promise<McpConnection | undefined> {
    const row = await ofTarget.first(sql, [accountId, user, url]);
    return row && showConnection(row);
  }

  private async insert(sql: Sql, { accountId, user, url }: McpConnectionTarget): Promise<McpConnection> {
    const { count = 0 } = (await countConnections.first(sql, [accountId])) ?? {};
    if (count >= mostMcpConnections)
      throw new TerminalError(
        'too_many_mcp_connections',
        `An account may have ${mostMcpConnections} connections to MCP servers.`,
      );
    const id = mcpConnectionId.parse(`mcc_${this.newId()}`);
    return toConnection(await insertConnection.first(sql, [id, accountId, user, url]), id);
  }
}

function toConnection(row: ConnectionRow | undefined, id: McpConnectionId): McpConnection {
  if (!row) throw connectionNotFound(id);
  return showConnection(row);
}

const showConnection = ({ end_user: user, ...row }: ConnectionRow): McpConnection => ({
  ...row,
  user,
  expires_at: row.expires_at?.toISOString() ?? null,
  connected_at: row.connected_at?.toISOString() ?? null,
  created_at: row.created_at.toISOString(),
});

const connectionNotFound = (id: McpConnectionId): TerminalError =>
  new TerminalError('mcp_connection_not_found', `There is no connection ${id}.`);
