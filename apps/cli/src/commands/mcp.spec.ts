import { runWithGateway } from '../testing/run-with-gateway';
import { mcpConnect, mcpDisconnect } from './mcp';

const connection = { id: 'mcc_1', status: 'pending', problem: null, connected_at: null, scopes: [] };

it('mcp connect with --json says where a person allows it before it waits for that', async () => {
  const begun = {
    ...connection,
    authorization_url: 'https://login.example.com/authorize',
    authorization_expires_at: new Date(Date.now() + 60_000).toISOString(),
  };
  const connected = { ...connection, status: 'connected', connected_at: '2026-11-30T00:00:00.000Z' };
  const answer = ({ method }: Request) => Response.json(method === 'POST' ? begun : connected);

  const { output } = await runWithGateway(mcpConnect, ['https://mcp.example.com'], { answer, json: true, input: '' });

  expect(
    output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown),
  ).toEqual([begun, connected]);
});

it('mcp disconnect with --json prints JSON', async () => {
  const answer = () => new Response(null, { status: 204 });

  const { output } = await runWithGateway(mcpDisconnect, ['mcc_1'], { answer, json: true, input: '' });

  expect(JSON.parse(output)).toEqual({ id: 'mcc_1', disconnected: true });
});
