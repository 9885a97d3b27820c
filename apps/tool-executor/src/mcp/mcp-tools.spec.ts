import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { McpServerRequest } from '@rondo/contract';
import { McpServerFixture, anyObject } from './testing/mcp-server-fixture';
import { McpUseFixture } from './testing/mcp-use-fixture';
import { stdioServer } from './testing/stdio-server';

let server: McpServerFixture;
let fixture: McpUseFixture;

beforeAll(async () => {
  fixture = await McpUseFixture.open();
});
afterAll(() => fixture.close());
beforeEach(async () => {
  server = await McpServerFixture.open();
});
afterEach(() => server.close());

const overHttp = (more: object = {}): McpServerRequest => ({
  ...{ name: 'tickets', transport: 'streamable_http', url: server.url },
  ...more,
});
const overSse = (): McpServerRequest => ({ name: 'tickets', transport: 'sse', url: server.sseUrl });
const overStdio = (): McpServerRequest => ({ name: 'tickets', transport: 'stdio', command: stdioServer });

describe.each([
  ['streamable HTTP', overHttp],
  ['SSE', overSse],
  ['stdio in the sandbox', overStdio],
])('a server over %s', (_, aServer) => {
  it('says which tools it has, and runs them', async () => {
    expect(await fixture.list(aServer())).toMatchObject({
      how: 'connected',
      tools: [{ name: 'tickets__echo', tool: 'echo', parameters: anyObject, effect_class: 'unsafe' }],
      refused: [],
    });
    const result = await fixture.use(aServer(), 'tickets__echo', { text: 'hello ü' });
    expect(result).toEqual({ success: true, output: 'echo: hello ü' });
  });

  it('is used by another executor without its session', async () => {
    await fixture.list(aServer());
    await fixture.use(aServer(), 'tickets__echo', { text: 'one' });
    await fixture.restart();
    expect(await fixture.use(aServer(), 'tickets__echo', { text: 'two' })).toMatchObject({ output: 'echo: two' });
  });
});

describe('a call of a tool of a server', () => {
  it('carries its idempotency key, and reuses the session of its thread', async () => {
    await fixture.list(overHttp());
    for (let count = 0; count < 3; count += 1) await fixture.use(overHttp(), 'tickets__echo', { text: 'one' });
    expect(server.sessionsOpened).toBe(1);
    expect(new Set(server.calls.map(({ key }) => key)).size).toBe(3);
    expect(server.calls[0]?.key).toMatch(/^call_/);
  });

  it('is repeated in a new session when the server has forgotten the old one', async () => {
    await fixture.list(overHttp());
    await fixture.use(overHttp(), 'tickets__echo', { text: 'one' });
    server.forgetSessions();
    expect(await fixture.use(overHttp(), 'tickets__echo', { text: 'two' })).toMatchObject({ output: 'echo: two' });
    expect(server.sessionsOpened).toBe(2);
  });

  it('is not sent when its arguments are not what the tool demands', async () => {
    await fixture.list(overHttp());
    expect(await fixture.use(overHttp(), 'tickets__echo', { text: 1 })).toMatchObject({
      success: false,
      error: 'Invalid arguments for tickets__echo, so the call was not sent:\n- text: must be string',
    });
    expect((await fixture.use(overHttp(), 'tickets__echo', {})).error).toContain("required property 'text'");
    expect(server.calls).toEqual([]);
  });

  it('shows progress as live output', async () => {
    server.answer = async ({ progress }) => {
      await progress(1, 'half');
      return { content: [{ type: 'text', text: 'done' }] };
    };
    await fixture.list(overHttp());
    let output = '';
    await fixture.use(overHttp(), 'tickets__echo', { text: '' }, { output: (text) => (output += text) });
    expect(output).toBe('half 1/2\n');
  });

  it('may take longer than its time while its server reports progress', async () => {
    server.answer = async ({ progress }) => {
      for (let step = 0; step < 8; step += 1) {
        await sleep(250);
        await progress(step, 'going on');
      }
      return { content: [{ type: 'text', text: 'done' }] };
    };
    await fixture.list(overHttp());
    const result = await fixture.use(overHttp(), 'tickets__echo', { text: '' }, { timeoutMs: 1_000, mostMs: 60_000 });
    expect(result).toMatchObject({ output: 'done' });
  });

  it('is cancelled at the server when its run is stopped', async () => {
    const stop = new AbortController();
    let cancelled: Promise<unknown> = Promise.resolve();
    server.answer = ({ signal }) => {
      cancelled = once(signal, 'abort');
      stop.abort(new Error('stopped'));
      return new Promise(() => undefined);
    };
    await fixture.list(overHttp());
    const reply = await fixture.reply(overHttp(), 'tickets__echo', { text: '' }, { signal: stop.signal });
    expect(reply.how).toBe('stopped');
    await cancelled;
  });

  it('has an unknown outcome when the server dies after it got the call', async () => {
    server.answer = () => server.close().then(() => new Promise<never>(() => undefined));
    await fixture.list(overHttp());
    const reply = await fixture.reply(overHttp(), 'tickets__echo', { text: '' });
    expect(reply.how).toBe('unknown');
    server = await McpServerFixture.open();
  });

  it('fails, and was not executed, when the server cannot be reached', async () => {
    const gone = overHttp();
    await fixture.list(gone);
    await server.close();
    await fixture.restart();
    expect(await fixture.use(gone, 'tickets__echo', { text: '' })).toMatchObject({
      success: false,
      error: expect.stringContaining('the call was not sent'),
    });
    server = await McpServerFixture.open();
  });

  it('sends the headers of the server, and shows them to no model', async () => {
    server.answer = () => ({ content: [{ type: 'text', text: `you sent ${server.headers.at(-1)?.authorization}` }] });
    const secret = overHttp({ headers: { authorization: 'Bearer very-secret-token' } });
    await fixture.list(secret);
    const result = await fixture.use(secret, 'tickets__echo', { text: '' });
    expect(server.headers.every(({ authorization }) => authorization === 'Bearer very-secret-token')).toBe(true);
    expect(result.output).toBe('you sent [redacted]');
  });
});

describe('the result of a tool of a server', () => {
  const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

  it('has texts, an image, resources and notes about the rest', async () => {
    server.answer = () => ({
      content: [
        { type: 'text', text: 'one' },
        { type: 'image', data: pixel, mimeType: 'image/png' },
        { type: 'resource', resource: { uri: 'file:///a.txt', text: 'two' } },
        { type: 'resource_link', uri: 'https://example.org/b', name: 'b' },
        { type: 'audio', data: 'AAAA', mimeType: 'audio/wav' },
      ],
    });
    await fixture.list(overHttp());
    expect(await fixture.use(overHttp(), 'tickets__echo', { text: '' })).toEqual({
      success: true,
      output:
        'one\n\n[resource file:///a.txt]\ntwo\n\n[resource https://example.org/b: b]\n\n[audio, 3 bytes, not shown]',
      image: { media_type: 'image/png', data: pixel },
    });
  });

  it('is a failure where the server says so, and structured content where there is no text', async () => {
    await fixture.list(overHttp());
    server.answer = () => ({ isError: true, content: [{ type: 'text', text: 'no such ticket' }] });
    expect(await fixture.use(overHttp(), 'tickets__echo', { text: '' })).toMatchObject({
      success: false,
      error: 'no such ticket',
    });
    server.answer = () => ({ content: [], structuredContent: { id: 1 } });
    expect(await fixture.use(overHttp(), 'tickets__echo', { text: '' })).toMatchObject({ output: '{"id":1}' });
  });
});

describe('the structured result of a tool of a server', () => {
  const promise = { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] };
  const structured = (structuredContent?: Record<string, unknown>) => () => ({
    content: [{ type: 'text' as const, text: 'seen' }],
    ...(structuredContent && { structuredContent }),
  });
  beforeEach(async () => {
    server.tools = [{ name: 'echo', inputSchema: anyObject, outputSchema: promise }];
    expect(await fixture.list(overHttp())).toMatchObject({ tools: [{ output_schema: promise }] });
  });

  it('is what the tool promises', async () => {
    server.answer = structured({ id: 1 });
    expect(await fixture.use(overHttp(), 'tickets__echo', { text: '' })).toEqual({ success: true, output: 'seen' });
  });

  it.each([
    ['differs', { id: 'one' }, '- id: must be integer'],
    ['is missing', undefined, '- there is no structured content'],
  ])('fails the call that was executed when it %s', async (_, given, problem) => {
    server.answer = structured(given);
    const { success, error } = await fixture.use(overHttp(), 'tickets__echo', { text: '' });
    expect(success).toBe(false);
    expect(error).toContain(`The call was executed, but its result is not`);
    expect(error).toContain(problem);
  });

  it('is not asked of a call that failed', async () => {
    server.answer = () => ({ isError: true, content: [{ type: 'text', text: 'no such ticket' }] });
    expect(await fixture.use(overHttp(), 'tickets__echo', { text: '' })).toMatchObject({ error: 'no such ticket' });
  });
});

describe('the tools of a server', () => {
  it('have the effect class of their annotations', async () => {
    server.tools = [
      { name: 'read', inputSchema: anyObject, annotations: { readOnlyHint: true } },
      { name: 'put', inputSchema: anyObject, annotations: { idempotentHint: true } },
      { name: 'send', inputSchema: anyObject },
    ];
    expect(await fixture.list(overHttp())).toMatchObject({
      tools: [{ effect_class: 'pure' }, { effect_class: 'idempotent' }, { effect_class: 'unsafe' }],
    });
  });

  it('are only those that the run allows', async () => {
    server.tools = ['one', 'two', 'three'].map((name) => ({ name, inputSchema: anyObject }));
    expect(await fixture.list(overHttp({ tools: ['two'] }))).toMatchObject({ tools: [{ tool: 'two' }], refused: [] });
  });

  it('have names of 64 characters that differ wherever the server’s differ', async () => {
    const long = 'x'.repeat(90);
    server.tools = [`${long}1`, `${long}2`, 'a.b', 'a_b'].map((name) => ({ name, inputSchema: anyObject }));
    const found = await fixture.list(overHttp());
    const names = found.how === 'connected' ? found.tools.map(({ name }) => name) : [];
    expect(new Set(names).size).toBe(4);
    expect(names.every((name) => /^tickets__[A-Za-z0-9_-]{1,55}$/.test(name))).toBe(true);
    expect(names[3]).toBe('tickets__a_b');
  });
});
