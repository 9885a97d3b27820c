import { once } from 'node:events';
import type { McpServerRequest } from '@rondo/contract';
import { McpServerFixture, anyObject } from './testing/mcp-server-fixture';
import { McpUseFixture } from './testing/mcp-use-fixture';
import { packagedServer } from './testing/stdio-packages';

let fixture: McpUseFixture;
const opened: McpServerFixture[] = [];

beforeAll(async () => {
  fixture = await McpUseFixture.open();
});
afterEach(async () => {
  for (const server of opened.splice(0)) await server.close();
});
afterAll(() => fixture.close());

async function startServer(generation: '2025' | '2026'): Promise<McpServerFixture> {
  const server = await McpServerFixture.open(generation);
  opened.push(server);
  return server;
}

const overHttp = ({ url }: McpServerFixture): McpServerRequest => ({
  name: 'tickets',
  transport: 'streamable_http',
  url,
});
const overStdio = (command: string): McpServerRequest => ({ name: 'tickets', transport: 'stdio', command });

/** Answers each line with what `answer` makes of it; nothing where that is undefined. */
const byHand = (answer: string): string => {
  const program = `require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method, params } = JSON.parse(line);
    const result = ((${answer})(method, params));
    if (id !== undefined && result) console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
  });`;
  return `echo ${Buffer.from(program).toString('base64')} | base64 -d > /tmp/hand.cjs && echo started >> /workspace/starts && exec node /tmp/hand.cjs`;
};

const older = `(method, params) => ({
  initialize: { protocolVersion: params && params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'old', version: '1' } },
  'tools/list': { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] },
  'tools/call': { content: [{ type: 'text', text: 'old' }] },
})[method]`;

describe.each(['2025', '2026'] as const)('a server of the generation of %s', (generation) => {
  it('is used over HTTP, also by another executor', async () => {
    const server = await startServer(generation);
    expect(await fixture.list(overHttp(server))).toMatchObject({
      how: 'connected',
      tools: [{ tool: 'echo' }],
      refused: [],
    });
    expect(await fixture.use(overHttp(server), 'tickets__echo', { text: 'one' })).toMatchObject({
      output: 'echo: one',
    });
    await fixture.restart();
    expect(await fixture.use(overHttp(server), 'tickets__echo', { text: 'two' })).toMatchObject({
      output: 'echo: two',
    });
    expect(server.calls.map(({ key }) => key)).toEqual([
      expect.stringMatching(/^call_/),
      expect.stringMatching(/^call_/),
    ]);
  });

  it('is used over standard streams in the sandbox', async () => {
    const sandbox = await fixture.readSandbox('thr_one');
    await sandbox.files.write('packaged.cjs', packagedServer(generation), { mode: 'put' });
    const server = overStdio('exec node /workspace/packaged.cjs');

    const tools: unknown = expect.arrayContaining([expect.objectContaining({ tool: 'echo' })]);
    expect(await fixture.list(server)).toMatchObject({ how: 'connected', tools, refused: [] });
    expect(await fixture.use(server, 'tickets__echo', { text: 'one' })).toMatchObject({ output: 'echo: one' });
  });

  it('shows progress as live output', async () => {
    const server = await startServer(generation);
    server.answer = async ({ progress }) => {
      await progress(1, 'half');
      return { content: [{ type: 'text', text: 'done' }] };
    };
    await fixture.list(overHttp(server));
    let output = '';
    await fixture.use(overHttp(server), 'tickets__echo', { text: '' }, { output: (text) => (output += text) });
    expect(output).toBe('half 1/2\n');
  });

  it('hears that a call is cancelled', async () => {
    const server = await startServer(generation);
    const stop = new AbortController();
    let cancelled: Promise<unknown> = Promise.resolve();
    server.answer = ({ signal }) => {
      cancelled = once(signal, 'abort');
      stop.abort(new Error('stopped'));
      return new Promise(() => undefined);
    };
    await fixture.list(overHttp(server));
    const reply = await fixture.reply(overHttp(server), 'tickets__echo', { text: '' }, { signal: stop.signal });
    expect(reply.how).toBe('stopped');
    await cancelled;
  });

  it('leaves the outcome unknown when it dies after it got the call', async () => {
    const server = await startServer(generation);
    server.answer = () => server.die().then(() => new Promise<never>(() => undefined));
    await fixture.list(overHttp(server));
    expect(await fixture.reply(overHttp(server), 'tickets__echo', { text: '' })).toMatchObject({ how: 'unknown' });
  });

  it('is not called any more by what it said before it changed a tool', async () => {
    const server = await startServer(generation);
    await fixture.list(overHttp(server));
    await fixture.use(overHttp(server), 'tickets__echo', { text: 'one' });
    await server.streamOpened;

    let result = await fixture.use(overHttp(server), 'tickets__echo', { text: 'two' });
    while (result.success) {
      await server.changeTools([{ name: 'echo', description: 'Sends a text.', inputSchema: anyObject }]);
      result = await fixture.use(overHttp(server), 'tickets__echo', { text: 'two' });
    }
    expect(result.error).toContain('has changed this tool');
  });
});

describe('a server of the older generation', () => {
  it.each([
    [
      'ends when it is asked which protocol it speaks',
      `(method, params) => method === 'server/discover' ? process.exit(1) : (${older})(method, params)`,
    ],
    ['stays silent when it is asked which protocol it speaks', older],
  ])(
    'that %s is used, and asked only once',
    async (_, answer) => {
      const server = overStdio(byHand(answer));

      expect(await fixture.list(server)).toMatchObject({ how: 'connected', tools: [{ tool: 'echo' }] });
      const starts = (await fixture.file('starts')).toString();
      expect(await fixture.use(server, 'tickets__echo', {})).toMatchObject({ output: 'old' });
      expect((await fixture.file('starts')).toString()).toBe(`${starts}started\n`);
    },
    300_000,
  );
});

describe('an odd answer of a server of the newer generation', () => {
  it('spoils no list and no call', async () => {
    const server = overStdio(
      byHand(`(method, params) => ({
        'server/discover': { resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities: { tools: {} }, ttlMs: 0, cacheScope: 'private' },
        'tools/list': { resultType: 'complete', tools: [{ name: 7 }, { name: 'echo', title: null, inputSchema: { type: 'object' } }], nextCursor: null },
        'tools/call': { resultType: 'complete', content: [{ type: 'video' }, { type: 'text', text: 'seen', annotations: null }], isError: null },
      })[method]`),
    );

    expect(await fixture.list(server)).toMatchObject({ tools: [{ tool: 'echo' }], refused: [{ tool: '' }] });
    expect(await fixture.use(server, 'tickets__echo', {})).toMatchObject({
      success: true,
      output: '[content of the type video, not shown]\n\nseen',
    });
  });
});
