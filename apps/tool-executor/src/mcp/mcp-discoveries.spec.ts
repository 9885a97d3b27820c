import { once } from 'node:events';
import { type Server, createServer } from 'node:http';
import { type McpServerRequest, accountId } from '@rondo/contract';
import type { McpDiscoveries } from './mcp-discoveries';
import { McpServerFixture } from './testing/mcp-server-fixture';
import { McpUseFixture } from './testing/mcp-use-fixture';
import { stdioServer } from './testing/stdio-server';

const account = accountId.parse('acc_1');
const neighbour = accountId.parse('acc_2');

let server: McpServerFixture;
let fixture: McpUseFixture;
let discoveries: McpDiscoveries;

beforeAll(async () => {
  fixture = await McpUseFixture.open();
});
afterAll(() => fixture.close());
beforeEach(async () => {
  server = await McpServerFixture.open();
  discoveries = fixture.discoveries();
});
afterEach(() => server.close());

const overHttp = (more: object = {}): McpServerRequest => ({
  ...{ name: 'tickets', transport: 'streamable_http', url: server.url },
  ...more,
});
const overSse = (): McpServerRequest => ({ name: 'tickets', transport: 'sse', url: server.sseUrl });
const overStdio = (command = stdioServer): McpServerRequest => ({ name: 'tickets', transport: 'stdio', command });

const discover = (given: McpServerRequest, { signal } = new AbortController(), of = account) =>
  discoveries.discover({ account: of, server: fixture.sealed(given, of), signal });

describe('what a server has is found without a run', () => {
  it.each([
    ['streamable HTTP', overHttp],
    ['SSE', overSse],
    ['stdio in a sandbox', overStdio],
  ])('over %s, and no sandbox is left of it', async (_, aServer) => {
    expect(await discover(aServer())).toMatchObject({
      how: 'connected',
      tools: [{ name: 'tickets__echo', tool: 'echo', effect_class: 'unsafe' }],
      refused: [],
    });
    expect(await fixture.sandboxes()).toEqual([]);
  });

  it('with the headers that the server needs', async () => {
    await discover(overHttp({ headers: { authorization: 'Bearer a-secret' } }));
    expect(server.headers[0]?.authorization).toBe('Bearer a-secret');
  });

  it('in a session of its own', async () => {
    await discover(overHttp());
    await discover(overHttp());
    expect(server.sessionsOpened).toBe(2);
  });

  it('or it is said why not', async () => {
    await server.close();
    expect(await discover(overHttp())).toEqual({ how: 'failed', reason: expect.stringMatching(/./) });
    server = await McpServerFixture.open();
    expect(await discover(overStdio('exit 3'))).toEqual({ how: 'failed', reason: expect.stringMatching(/./) });
    expect(await fixture.sandboxes()).toEqual([]);
  });
});

describe('attack: a server that an account asks about', () => {
  it.each(['http://169.254.169.254/mcp', 'http://10.0.0.1/mcp', 'http://[::ffff:10.0.0.1]/mcp'])(
    '%s is not connected to',
    async (url) => {
      const found = await discover(overHttp({ url }));
      expect(found).toMatchObject({ how: 'failed', reason: expect.stringContaining('not a public address') });
    },
  );

  it('opens no headers that were sealed for another account', async () => {
    const sealed = fixture.sealed(overHttp({ headers: { authorization: 'Bearer a-secret' } }), neighbour);
    const { signal } = new AbortController();
    expect(await discoveries.discover({ account, server: sealed, signal })).toMatchObject({ how: 'failed' });
    expect(server.headers).toEqual([]);
  });

  it('in a sandbox finds no files of a thread', async () => {
    await fixture.list(overStdio());
    const found = await discover(overStdio(`touch /workspace/mark; ls /workspace | grep -qx note && ${stdioServer}`));
    expect(found).toMatchObject({ how: 'failed' });
    await expect(fixture.file('mark')).rejects.toThrow();
    expect(await fixture.sandboxes()).toEqual(['thr_one']);
  });

  it('and never answers keeps no other account waiting', async () => {
    const silent = createServer(() => undefined);
    const url = await listening(silent);
    const stops = Array.from({ length: 20 }, () => new AbortController());
    const hanging = stops.map((stop) => discover(overHttp({ url }), stop));
    expect(await discover(overHttp(), new AbortController(), neighbour)).toMatchObject({ how: 'connected' });

    for (const stop of stops) stop.abort(new Error('stopped'));
    for (const found of await Promise.all(hanging)) expect(found.how).toBe('failed');
    silent.close();
    silent.closeAllConnections();
  });
});

async function listening(http: Server): Promise<string> {
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  return `http://127.0.0.1:${(http.address() as { port: number }).port}/mcp`; // it listens on TCP
}
