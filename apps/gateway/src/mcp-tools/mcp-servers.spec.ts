import { type McpDiscovery, type McpServer, accountId, mcpHeaderPurpose } from '@rondo/contract';
import { type McpDiscoverRequest, answerMcpDiscoveries, connectNats } from '@rondo/messaging';
import { SecretBox, createLogger } from '@rondo/platform';
import { RunningGateway } from '../testing/running-gateway';
import { TestExecutor } from '../testing/test-executor';
import { testServer } from '../testing/test-server';

const secretsKey = Buffer.alloc(32, 7).toString('base64');
const server = { name: 'tickets', transport: 'streamable_http', url: 'https://tickets.example/mcp' };
const route = '/v1/mcp-servers/discover';
const echo = {
  ...{ name: 'tickets__echo', tool: 'echo', description: 'Repeats.', parameters: { type: 'object' as const } },
  ...{ effect_class: 'unsafe' as const, fingerprint: 'f1' },
};
const connected: McpDiscovery = { how: 'connected', tools: [echo], refused: [{ tool: 'bad', reason: 'no schema' }] };

let gateway: RunningGateway;
let stop: () => Promise<void>;
let asked: McpDiscoverRequest[] = [];
let answer: McpDiscovery;

beforeAll(async () => {
  gateway = await RunningGateway.start({ SECRETS_KEY: secretsKey });
  const executor = await TestExecutor.start();
  const log = createLogger({ name: 'test', level: 'silent' });
  const link = await connectNats({ url: testServer('TEST_NATS_URL'), name: 'test', log });
  answerMcpDiscoveries(link, executor.id, (request) => {
    asked.push(request);
    return Promise.resolve(answer);
  });
  await link.connection.flush();
  stop = () => executor.close().then(() => link.close());
});
afterAll(async () => {
  await stop();
  await gateway.close();
});
beforeEach(() => {
  asked = [];
  answer = connected;
});

describe('the tools of an MCP server that no run uses', () => {
  it('are told over REST, and those that are refused, with the reason', async () => {
    const { body } = await gateway.as().post(route).send({ server }).expect(200);
    expect(body).toEqual({ connected: true, reason: null, tools: [echo], refused: connected.refused });
    expect(asked[0]?.server).toEqual(server);
  });

  it('or it is said why it cannot be used', async () => {
    answer = { how: 'failed', reason: 'It may not be reached.' };
    const stdio = { name: 'notes', transport: 'stdio', command: 'notes-server' };
    const { body } = await gateway.as().post(route).send({ server: stdio }).expect(200);
    expect(body).toEqual({ connected: false, reason: 'It may not be reached.', tools: [], refused: [] });
    expect(asked[0]?.server).toEqual(stdio);
  });

  it('are asked for with headers that only an executor can open, for this account', async () => {
    const headers = { authorization: 'Bearer a-secret' };
    await gateway
      .as()
      .post(route)
      .send({ server: { ...server, headers } })
      .expect(200);
    const [request] = asked;
    expect(JSON.stringify(request)).not.toContain('a-secret');
    const account = accountId.parse(request?.account_id);
    const sealed = sealedHeaders(request?.server)['authorization'] ?? '';
    const purpose = mcpHeaderPurpose(account, server.url, 'authorization');
    expect(new SecretBox(secretsKey, 'mcp').open(sealed, purpose)).toBe('Bearer a-secret');

    const { body } = await gateway.as().get('/v1/audit?action=mcp_server.discover').expect(200);
    expect(body.data[0]).toMatchObject({ action: 'mcp_server.discover' });
    expect(JSON.stringify(body)).not.toContain('a-secret');
  });

  it('are not asked for by keys that only read, or with what no run may name', async () => {
    const reader = gateway.as(await gateway.toKey('a reader', ['read']));
    await reader.post(route).send({ server }).expect(403);
    const withPassword = { ...server, url: 'https://user:password@tickets.example/mcp' };
    const { body } = await gateway.as().post(route).send({ server: withPassword }).expect(422);
    expect(body.errors[0].field).toBe('server.url');
    expect(asked).toEqual([]);
  });
});

it('headers are refused without SECRETS_KEY', async () => {
  const open = await RunningGateway.start();
  const headers = { authorization: 'Bearer a-secret' };
  const { body } = await open
    .as()
    .post(route)
    .send({ server: { ...server, headers } })
    .expect(422);
  expect(body.errors).toEqual([{ field: 'server.headers', message: expect.stringContaining('SECRETS_KEY') }]);
  await open.close();
});

const sealedHeaders = (given: McpServer | undefined): Record<string, string> =>
  given && given.transport !== 'stdio' ? (given.sealed_headers ?? {}) : {};
