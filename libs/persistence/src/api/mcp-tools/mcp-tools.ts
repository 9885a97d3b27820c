import { createHash } from 'node:crypto';
import {
  type AccountId,
  type KnownMcpTool,
  type McpServer,
  type McpTool,
  type McpToolId,
  type NewId,
  knownMcpTool,
  maxMcpTools,
  mcpToolDefinition,
  mcpToolId,
} from '@rondo/contract';
import { TerminalError } from '@rondo/domain';
import type { Database } from '../../database/database';
import { type PendingKey, storeResponse } from '../idempotency-keys';
import { BoundedList, type Page, type PageRequest, idOfCursor } from '../page';
import { z } from 'zod';
import { anyJson, createQuery } from '../../database/checked-query';

export interface McpToolAddress {
  readonly accountId: AccountId;
  readonly mcpToolId: McpToolId;
}

export interface McpToolConfirmation extends McpToolAddress {
  /** Of the definition that the person has read. */
  readonly fingerprint: string;
  readonly confirmedBy: string;
  readonly promised?: PendingKey<KnownMcpTool> | undefined;
}

/** A tool that a run is not offered. */
export interface WithheldMcpTool {
  readonly tool: string;
  /** Where it is not what the account accepted. Absent: it is new, and the account knows too many. */
  readonly id?: McpToolId;
}

/** Tools that an account may know. Those of one list more may be stored when two runs begin at once. */
export const mostMcpTools = 2_000;

const isAccepted = 'excluded.fingerprint = mcp_tools.fingerprint';

/** The first definition is accepted, if the account has capacity. Rows of unchanged tools are not written again. */
const note = `
insert into mcp_tools (id, account_id, server_hash, server, tool, fingerprint, accepted)
select distinct on (tool) id, $1, $2, $3, tool, fingerprint, definition
from unnest($4::text[], $5::text[], $6::text[], $7::json[]) as seen (id, tool, fingerprint, definition)
where (select count(*) from mcp_tools where account_id = $1) < $8
  or tool in (select known.tool from mcp_tools as known where known.account_id = $1 and known.server_hash = $2)
on conflict (account_id, server_hash, tool) do update set
  server = excluded.server,
  changed_fingerprint = case when ${isAccepted} then null else excluded.fingerprint end,
  changed = case when ${isAccepted} then null else excluded.accepted end,
  changed_at = case when ${isAccepted} then null else clock_timestamp() end
where mcp_tools.changed_fingerprint is distinct from case when ${isAccepted} then null else excluded.fingerprint end`;

const selectAccepted = createQuery(
  z.object({ id: mcpToolId, tool: z.string(), fingerprint: z.string() }),
  `
select id, tool, fingerprint from mcp_tools where account_id = $1 and server_hash = $2 and tool = any($3::text[])`,
);

const unchanged = createQuery(
  z.object({ tool: z.string(), accepted: mcpToolDefinition }),
  `
select tool, accepted from mcp_tools
where account_id = $1 and server_hash = $2 and changed_fingerprint is null and ($3::text[] is null or tool = any($3))
order by id limit $4`,
);

const knownRow = z.object({
  id: z.string(),
  server: z.string(),
  tool: z.string(),
  accepted: anyJson,
  changed: anyJson,
  changed_at: z.date().nullable(),
  confirmed_by: z.string().nullable(),
  confirmed_at: z.date().nullable(),
  created_at: z.date(),
});
type Row = z.infer<typeof knownRow>;

const columns = `id, server, tool, accepted, changed, changed_at, confirmed_by, confirmed_at, created_at`;
const oneTool = createQuery(knownRow, `select ${columns} from mcp_tools where account_id = $1 and id = $2`);

const newestTools = `
select ${columns} from mcp_tools
where account_id = $1 and ($2::text is null or id < $2) and (not $3::boolean or changed_fingerprint is not null)
order by id desc limit $4`;

const accept = `
update mcp_tools set
  fingerprint = changed_fingerprint, accepted = changed, changed_fingerprint = null, changed = null, changed_at = null,
  confirmed_by = $4, confirmed_at = clock_timestamp()
where account_id = $1 and id = $2 and changed_fingerprint = $3`;

const forget = `delete from mcp_tools where account_id = $1 and id = $2 returning id`;
const forgetServer = `delete from mcp_tools where account_id = $1 and server = $2 returning id`;

/** What the tools of MCP servers were when an account first used them, and which have changed since. */
export class McpToolDefinitions {
  private readonly pages = new BoundedList<KnownMcpTool>(
    newestTools,
    { order: 'id desc', length: 'octet_length(accepted::text) + coalesce(octet_length(changed::text), 0)' },
    knownRow.transform(toKnown),
  );

  constructor(
    private readonly database: Database,
    private readonly newId: NewId,
    private readonly most = mostMcpTools,
  ) {}

  /** Accepts tools that the account has not seen yet. Resolves to those that a run must not be offered. */
  async note(accountId: AccountId, server: McpServer, tools: readonly McpTool[]): Promise<readonly WithheldMcpTool[]> {
    if (tools.length === 0) return [];
    const { sql } = this.database;
    const [hash, names] = [serverHash(server), tools.map(({ tool }) => tool)];
    await sql.query(note, [
      ...[accountId, hash, server.name],
      tools.map(() => `mct_${this.newId()}`),
      names,
      tools.map(({ fingerprint }) => fingerprint),
      tools.map((tool) => JSON.stringify(mcpToolDefinition.parse(tool))),
      this.most,
    ]);
    const rows = await selectAccepted.all(sql, [accountId, hash, names]);
    const accepted = new Map(rows.map((row) => [row.tool, row]));
    return tools.flatMap(({ tool, fingerprint }) => {
      const known = accepted.get(tool);
      if (!known) return [{ tool }];
      return known.fingerprint === fingerprint ? [] : [{ id: known.id, tool }];
    });
  }

  /** What the account has accepted of a server's tools, of those that the run wants, without tools that have changed since. */
  async findAccepted(accountId: AccountId, server: McpServer): Promise<readonly Omit<McpTool, 'name'>[]> {
    const rows = await unchanged.all(this.database.sql, [
      accountId,
      serverHash(server),
      server.tools ?? null,
      maxMcpTools,
    ]);
    return rows.map(({ tool, accepted }) => ({ tool, ...accepted }));
  }

  /** Newest first. */
  list(
    page: PageRequest & { readonly accountId: AccountId; readonly onlyChanged: boolean },
  ): Promise<Page<KnownMcpTool>> {
    const { accountId, after, limit, onlyChanged } = page;
    const cursor = after === undefined ? null : idOfCursor(after, mcpToolId);
    return this.pages.page(this.database.sql, [accountId, cursor, onlyChanged], limit);
  }

  /** Another account's tool does not exist: `mcp_tool_not_found`. */
  async get({ accountId, mcpToolId: id }: McpToolAddress): Promise<KnownMcpTool> {
    const row = await oneTool.first(this.database.sql, [accountId, id]);
    if (!row) throw new TerminalError('mcp_tool_not_found', `There is no MCP tool ${id}.`);
    return toKnown(row);
  }

  /** The next run that sees it accepts what its server says then. Rejects with `mcp_tool_not_found`. */
  async forget({ accountId, mcpToolId: id }: McpToolAddress): Promise<void> {
    const gone = await this.database.sql.query(forget, [accountId, id]);
    if (gone.length === 0) throw new TerminalError('mcp_tool_not_found', `There is no MCP tool ${id}.`);
  }

  /** All tools of the server that runs call so. Resolves to their number. */
  async forgetServer(accountId: AccountId, server: string): Promise<number> {
    return (await this.database.sql.query(forgetServer, [accountId, server])).length;
  }

  /** Runs are offered the changed tool from now on. Rejects with `mcp_tool_changed` for any other definition. */
  confirm({ fingerprint, confirmedBy, promised, ...address }: McpToolConfirmation): Promise<KnownMcpTool> {
    return this.database.transaction(async (sql) => {
      await sql.query(accept, [address.accountId, address.mcpToolId, fingerprint, confirmedBy]);
      const row = await oneTool.first(sql, [address.accountId, address.mcpToolId]);
      if (!row) throw new TerminalError('mcp_tool_not_found', `There is no MCP tool ${address.mcpToolId}.`);
      const known = toKnown(row);
      if (known.accepted.fingerprint !== fingerprint)
        throw new TerminalError(
          'mcp_tool_changed',
          'The server says something else of the tool by now: read it again.',
        );
      return storeResponse(sql, promised, known);
    });
  }
}

const toKnown = (row: Row): KnownMcpTool =>
  knownMcpTool.parse({
    ...{ id: row.id, server: row.server, tool: row.tool, accepted: row.accepted, changed: row.changed },
    available: row.changed === null,
    reason:
      row.changed === null
        ? 'It is as this account accepted it.'
        : 'The server has changed it since this account accepted it: runs are not offered it until a person confirms.',
    changed_at: row.changed_at && row.changed_at.toISOString(),
    confirmed_by: row.confirmed_by,
    confirmed_at: row.confirmed_at && row.confirmed_at.toISOString(),
    first_seen_at: row.created_at.toISOString(),
  });

/** Names a server by where it is. A hash, since an address may contain what a list of tools must not show. */
const serverHash = (server: McpServer): string =>
  createHash('sha256')
    .update(JSON.stringify(server.transport === 'stdio' ? ['stdio', server.command] : ['remote', server.url]))
    .digest('hex');
