import { once } from 'node:events';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import type { ExecutorResult, McpServerRequest } from '@rondo/contract';
import { McpServerFixture, anyObject } from './testing/mcp-server-fixture';
import { McpUseFixture } from './testing/mcp-use-fixture';
import { stdioServer } from './testing/stdio-server';

type Answer = (params: Readonly<Record<string, unknown>>, id: number) => object;

let fixture: McpUseFixture;
const opened: Server[] = [];

beforeAll(async () => {
  fixture = await McpUseFixture.open();
});
afterEach(() => {
  for (const server of opened.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
});
afterAll(() => fixture.close());

const hello = { name: 'hello', description: 'Greets.', inputSchema: anyObject };
const sayHello: Answer = () => ({ tools: [hello] });

/** A server by hand, which answers what the official one would refuse to send: results, or whole messages where they have an id. */
async function oddServer(
  answers: { list?: Answer; call?: Answer },
  write: (response: ServerResponse, message: object) => void = asJson,
): Promise<McpServerRequest> {
  const initialize: Answer = ({ protocolVersion }) => ({
    ...{ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'odd', version: '1' } },
  });
  const all: Record<string, Answer | undefined> = {
    initialize,
    'tools/list': answers.list ?? sayHello,
    'tools/call': answers.call,
  };
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const {
      id,
      method,
      params = {},
    } = (await json(request)) as {
      id?: number;
      method: string;
      params?: Record<string, unknown>;
    }; // what the client of the SDK sends
    if (id === undefined) return void response.writeHead(202).end();
    const result = all[method]?.(params, id) ?? {};
    write(response, 'id' in result ? result : { jsonrpc: '2.0', id, result });
  };
  const server = createServer((request, response) => void answer(request, response));
  opened.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number }; // it listens on TCP
  return { name: 'odd', transport: 'streamable_http', url: `http://127.0.0.1:${port}/mcp` };
}

function asJson(response: ServerResponse, message: object): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(message));
}

function asEvent(response: ServerResponse, message: object): void {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  response.end(`event: message\r\ndata: ${JSON.stringify(message)}\r\n\r\n`);
}

const text = (value: string) => ({ type: 'text', text: value });

describe.each([
  ['one JSON text', asJson],
  ['a stream of events', asEvent],
])('an odd answer in %s', (_, write) => {
  it.each<[string, Answer, object]>([
    [
      'nulls in the place of what is absent',
      () => ({
        content: [{ ...text('3 rows ü'), annotations: null, _meta: null }],
        ...{ isError: null, structuredContent: null, _meta: null },
      }),
      { success: true, output: '3 rows ü' },
    ],
    [
      'an error beside the result that is none',
      (params, id) => ({ jsonrpc: '2.0', id, result: { content: [text('done')] }, error: null, more: 1 }),
      { success: true, output: 'done' },
    ],
    [
      'content that the protocol does not know',
      () => ({ content: [text('seen'), { type: 'video', frames: 3 }, null, 'x'] }),
      {
        success: true,
        output:
          'seen\n\n[content of the type video, not shown]\n\n[content of the type none, not shown]\n\n[content of the type none, not shown]',
      },
    ],
    [
      'a date that is none, and content that is a text',
      () => ({ content: 'plain', annotations: { lastModified: 'yesterday' } }),
      { success: true, output: 'plain' },
    ],
    [
      'an error without a number',
      (params, id) => ({ jsonrpc: '2.0', id, error: { code: 'E_NO', message: 'no such row' } }),
      { success: false, error: expect.stringContaining('refused the call: no such row') },
    ],
    [
      'nothing that can be read',
      () => ({ rows: 3 }),
      { success: false, error: expect.stringContaining('executed the call, but its answer cannot be used') },
    ],
  ])('with %s is an answer', async (__, call, expected) => {
    const server = await oddServer({ call }, write);
    await fixture.list(server);

    expect(await fixture.use(server, 'odd__hello', { text: '' })).toMatchObject(expected);
  });
});

describe('a list of tools', () => {
  it.each<[string, Answer]>([
    ['null', () => ({ tools: [hello], nextCursor: null })],
    ['empty', () => ({ tools: [hello], nextCursor: '' })],
    ['a number', () => ({ tools: [hello], nextCursor: 7 })],
    ['always the same', () => ({ tools: [hello], nextCursor: 'page 2' })],
  ])('whose cursor is %s ends, and has each tool once', async (_, list) => {
    expect(await fixture.list(await oddServer({ list }))).toMatchObject({
      ...{ how: 'connected', refused: [] },
      tools: [{ tool: 'hello' }],
    });
  });

  it('is read page by page', async () => {
    const pages: Record<string, object> = {
      '': { tools: [{ ...hello, name: 'two' }], nextCursor: 'last' },
      last: { tools: [{ ...hello, name: 'three' }] },
    };
    const list: Answer = ({ cursor }) =>
      typeof cursor === 'string' ? (pages[cursor] ?? {}) : { tools: [hello], nextCursor: '' };

    expect(await fixture.list(await oddServer({ list }))).toMatchObject({
      tools: [{ tool: 'hello' }, { tool: 'two' }, { tool: 'three' }],
    });
  });

  it('may have schemas that nest as those of real servers do', async () => {
    const toList = (properties: object) => ({ type: 'array', items: { type: 'object', properties } });
    const category = { category: { type: 'string', enum: ['A', 'B'] } };
    const inputs = { inputs: toList({ associations: toList({ types: toList(category) }) }) };
    const tool = { ...hello, inputSchema: { type: 'object', properties: inputs } };

    expect(await fixture.list(await oddServer({ list: () => ({ tools: [tool] }) }))).toMatchObject({ refused: [] });
  });
});

describe('a server that has forgotten its sessions', () => {
  it.each([
    [404, 'Session not found'],
    [400, 'Bad Request: No valid session ID provided'],
  ])('and answers %i is asked in a new one', async (status, reason) => {
    const server = await McpServerFixture.open();
    server.unknownSession = { status, reason };
    const request: McpServerRequest = { name: 'tickets', transport: 'streamable_http', url: server.url };
    await fixture.list(request);
    server.forgetSessions();

    expect(await fixture.use(request, 'tickets__echo', { text: 'two' })).toEqual({
      success: true,
      output: 'echo: two',
    });
    expect(server.sessionsOpened).toBe(2);
    await server.close();
  });
});

describe('a server that says that its tools have changed', () => {
  it('is not called any more by what it said before', async () => {
    const server = await McpServerFixture.open();
    const request: McpServerRequest = { name: 'tickets', transport: 'streamable_http', url: server.url };
    await fixture.list(request);
    await fixture.use(request, 'tickets__echo', { text: 'one' });
    await server.streamOpened;

    const changedAt = performance.now();
    let result: ExecutorResult = { success: true, output: '' };
    while (result.success) {
      await server.changeTools([{ name: 'echo', description: 'Sends a text.', inputSchema: anyObject }]);
      result = await fixture.use(request, 'tickets__echo', { text: 'two' });
    }

    expect(result.error).toContain('has changed this tool');
    expect(performance.now() - changedAt).toBeLessThan(5_000);
    await server.close();
  });
});

describe('a command that installs its server first', () => {
  it('has a minute, and what it wrote is in the reason if it fails', async () => {
    const slow = `sleep 17; exec ${stdioServer}`;
    const failing = "echo 'npm error 404 Not Found' >&2; exit 1";

    const [started, failed] = await Promise.all([
      fixture.list({ name: 'slow', transport: 'stdio', command: slow }),
      fixture.list({ name: 'failing', transport: 'stdio', command: failing }),
    ]);

    expect(started).toMatchObject({ how: 'connected', tools: [{ tool: 'echo' }] });
    expect(failed).toMatchObject({ how: 'failed', reason: expect.stringContaining('npm error 404 Not Found') });
  });
});
