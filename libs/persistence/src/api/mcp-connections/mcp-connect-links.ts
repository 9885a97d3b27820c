import { type CallId, type McpConnectionId, accountId, callId, endUser, mcpConnectionId } from '@rondo/contract';
import { z } from 'zod';
import { createQuery } from '../../database/checked-query';
import type { Database } from '../../database/database';
import { toStoredText } from '../../database/stored-text';

const linkColumns = z.object({
  hash: z.string(),
  connection_id: mcpConnectionId,
  account_id: accountId,
  account_name: z.string(),
  end_user: endUser.nullable(),
  url: z.string(),
  /** A client that the account has registered itself. */
  given: z.string().nullable(),
  /** Why the last attempt failed. */
  problem: z.string().nullable(),
  /** Of the connection as it is. */
  sealed: z.string().nullable(),
  scopes: z.array(z.string()),
  begun_by: z.string(),
  session_id: z.string().nullable(),
});
/** A page that leads a person to the authorization server, and what it is for. */
export type McpLink = z.infer<typeof linkColumns>;

const selectLink = `
select links.hash, connection_id, account_id, accounts.name as account_name, end_user, url, given, problem, sealed, links.scopes,
  begun_by, session_id
from mcp_connection_links as links
join mcp_connections as connections on connections.id = connection_id join accounts on accounts.id = account_id`;

const validLink = createQuery(
  linkColumns,
  `${selectLink} where links.hash = $1 and links.expires_at > clock_timestamp()`,
);

const noteAttempt = `
update mcp_connection_links set state_hash = $2, browser_hash = $3, attempt = $4,
  attempt_expires_at = clock_timestamp() + $5 * interval '1 millisecond'
where hash = $1 and expires_at > clock_timestamp() returning hash`;

/** An attempt ends with the first that brings its state and its browser. */
const takeAttempt = createQuery(
  z.object({ hash: z.string(), attempt: z.string() }),
  `
with found as (
  select hash, attempt from mcp_connection_links
  where state_hash = $1 and browser_hash = $2 and attempt_expires_at > clock_timestamp() for update
)
update mcp_connection_links as links set state_hash = null, browser_hash = null, attempt = null, attempt_expires_at = null
from found where links.hash = found.hash returning found.hash, found.attempt`,
);
const linkOfHash = createQuery(linkColumns, `${selectLink} where links.hash = $1`);

const storeTokens = `
update mcp_connections set status = 'connected', problem = null, issuer = $2, client_id = $3, scopes = $4, sealed = $5,
  expires_at = $6, version = version + 1, refreshed_at = clock_timestamp(), refreshing_until = null,
  connected_by = $7, connected_at = clock_timestamp()
where id = $1 returning id`;
const dropLinks = createQuery(
  z.object({ call_id: callId.nullable() }),
  `delete from mcp_connection_links where connection_id = $1 returning call_id`,
);
const noteProblem = `update mcp_connections set problem = $2 where id = $1`;

/** What came of an attempt. */
export interface NewMcpTokens {
  readonly issuer: string;
  readonly clientId: string;
  readonly scopes: readonly string[];
  readonly sealed: string;
  /** Null: the authorization server does not say. */
  readonly expiresAt: Date | null;
}

export interface McpAttempt {
  readonly stateHash: string;
  readonly browserHash: string;
  readonly sealed: string;
  readonly validMs: number;
}

/** Leads a person from a page to the authorization server, and back. */
export class McpConnectLinks {
  constructor(private readonly database: Database) {}

  /** Undefined where there is none, or its time is over. */
  find(hash: string): Promise<McpLink | undefined> {
    return validLink.first(this.database.sql, [hash]);
  }

  /** Replaces an attempt that was begun before. False where the time of the page is over. */
  async begin(hash: string, { stateHash, browserHash, sealed, validMs }: McpAttempt): Promise<boolean> {
    const values = [hash, stateHash, browserHash, sealed, validMs];
    return (await this.database.sql.query(noteAttempt, values)).length > 0;
  }

  /** The attempt of this state, once, and for the browser that has begun it only. */
  take(stateHash: string, browserHash: string): Promise<(McpLink & { readonly attempt: string }) | undefined> {
    return this.database.transaction(async (sql) => {
      const taken = await takeAttempt.first(sql, [stateHash, browserHash]);
      const link = taken && (await linkOfHash.first(sql, [taken.hash]));
      return link && { ...link, attempt: taken.attempt };
    });
  }

  /** Ends all pages of the connection. Resolves to the calls that waited for it; undefined where it was deleted meanwhile. */
  complete(link: McpLink, tokens: NewMcpTokens): Promise<readonly CallId[] | undefined> {
    const { issuer, clientId, scopes, sealed, expiresAt } = tokens;
    return this.database.transaction(async (sql) => {
      const stored = [link.connection_id, issuer, clientId, scopes, sealed, expiresAt, link.begun_by];
      if ((await sql.query(storeTokens, stored)).length === 0) return undefined;
      const dropped = await dropLinks.all(sql, [link.connection_id]);
      return dropped.flatMap(({ call_id: call }) => call ?? []);
    });
  }

  async fail({ connection_id: id }: { readonly connection_id: McpConnectionId }, problem: string): Promise<void> {
    await this.database.sql.query(noteProblem, [id, toStoredText(problem)]);
  }
}
