import { type McpTool, accountId } from '@rondo/contract';
import { McpToolDefinitions } from '@rondo/persistence';
import { newUlid } from '@rondo/platform';
import type { RunningGateway } from './running-gateway';

const server = { name: 'tickets', transport: 'streamable_http', url: 'https://tickets.example' } as const;
const tool = (description: string): McpTool => ({
  ...{ name: 'tickets__read', tool: 'read', description, parameters: { type: 'object' as const } },
  ...{ effect_class: 'unsafe' as const, fingerprint: `of ${description}` },
});

/** A tool as a run of the operator sees it. Returns its id. */
export async function seenMcpTool(gateway: RunningGateway, description: string): Promise<string> {
  const { id: run } = await gateway.createRun();
  const { sql } = gateway.ownerDatabase;
  const [row] = await sql.query<{ account_id: string }>('select account_id from runs where id = $1', [run]);
  const definitions = new McpToolDefinitions(gateway.ownerDatabase, newUlid);
  await definitions.note(accountId.parse(row?.account_id), server, [tool(description)]);
  const { body } = await gateway.as().get('/v1/mcp-tools').expect(200);
  return (body as { data: { id: string }[] }).data[0]?.id ?? 'no tool';
}
