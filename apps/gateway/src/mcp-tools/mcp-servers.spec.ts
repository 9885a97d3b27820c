import { type McpDiscovery, type McpPromptAnswer, type McpServer, accountId, mcpHeaderPurpose } from '@rondo/contract';
import {
  type McpDiscoverRequest,
  type McpPromptRequest,
  answerMcpDiscoveries,
  answerMcpPrompts,
  connectNats,
} from '@rondo/messaging';
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

const gateway = RunningGateway.forSuite({ SECRETS_KEY: secretsKey });
let stop: () => Promise<void>;
let asked: McpDiscoverRequest[] = [];
let answer: McpDiscovery;
let askedPrompts: McpPromptRequest[] = [];
let prompts: McpPromptAnswer;

beforeAll(async () => {
  const executor = await TestExecutor.start();
  const log = createLogger({ name: 'test', level: 'silent' });
  const link = await connectNats({ url: testServer('TEST_NATS_URL'), name: 'test', log });
  answerMcpDiscoveries(link, executor.id, (request) => {
    asked.push(request);
    return Promise.resolve(answer);
  });
  answerMcpPrompts(link, executor.id, (request) => {
    askedPrompts.push(request);
    return Promise.resolve(prompts);
  });
  await link.connection.flush();
  stop = () => executor.close().then(() => link.close());
});
afterAll(async () => {
  await stop();
});
beforeEach(() => {
  asked = [];
  askedPrompts = [];
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

describe('the prompts of an MCP server', () => {
  const triage = { name: 'triage', title: null, description: 'Says how urgent it is.', arguments: [] };

  it('are told over REST', async () => {
    prompts = { how: 'listed', prompts: [triage], refused: [{ prompt: 'bad', reason: 'it has no name' }] };
    const { body } = await gateway.as().post('/v1/mcp-servers/prompts').send({ server }).expect(200);
    expect(body).toEqual({ connected: true, reason: null, prompts: [triage], refused: prompts.refused });
    expect(askedPrompts).toMatchObject([{ server }]);
    expect(askedPrompts[0]).not.toHaveProperty('prompt');
  });

  it.each([
    [[{ role: 'user', text: 'How urgent?' }], 'How urgent?'],
    [
      [
        { role: 'user', text: 'How urgent?' },
        { role: 'assistant', text: 'Very.' },
      ],
      'User:\nHow urgent?\n\nAssistant:\nVery.',
    ],
  ] as const)('are given with arguments, and as the text that a run begins with', async (messages, input) => {
    prompts = { how: 'given', description: '', messages: [...messages] };
    const asks = { server, name: 'triage', arguments: { ticket: 'T-7' } };
    const { body } = await gateway.as().post('/v1/mcp-servers/prompts/get').send(asks).expect(200);
    expect(body).toEqual({ reason: null, description: '', messages, input });
    expect(askedPrompts[0]?.prompt).toEqual({ name: 'triage', arguments: { ticket: 'T-7' } });
  });

  it('or it is said why not', async () => {
    prompts = { how: 'failed', reason: 'It has no such prompt.' };
    const asks = { server, name: 'triage' };
    const { body } = await gateway.as().post('/v1/mcp-servers/prompts/get').send(asks).expect(200);
    expect(body).toEqual({ reason: 'It has no such prompt.', description: '', messages: [], input: '' });
    const { body: refused } = await gateway
      .as()
      .post('/v1/mcp-servers/prompts/get')
      .send({ ...asks, arguments: { ticket: 'x'.repeat(10_001) } })
      .expect(422);
    expect(refused.errors[0].field).toBe('arguments.ticket');
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
