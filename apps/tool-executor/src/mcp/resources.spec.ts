import type { McpServerRequest } from '@rondo/contract';
import { McpServerFixture, type ServedResources, anyObject } from './testing/mcp-server-fixture';
import { McpUseFixture } from './testing/mcp-use-fixture';
import { packagedServer } from './testing/stdio-packages';

let fixture: McpUseFixture;
let server: McpServerFixture;

beforeAll(async () => {
  fixture = await McpUseFixture.open();
});
afterAll(() => fixture.close());
afterEach(() => server.close());

const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const bytes = Buffer.from([0, 1, 2, 255]);
const contents: Record<string, object> = {
  'notes://a': { text: 'The first note.' },
  'notes://pixel': { blob: pixel },
  'notes://long': { text: 'x'.repeat(40_000) },
  'notes://archive.zip?v=1': { blob: bytes.toString('base64') },
};
const notes: ServedResources = {
  list: (cursor) =>
    cursor === 'two'
      ? { resources: [{ uri: 'notes://b', name: 'b' }] }
      : {
          resources: [{ uri: 'notes://a', name: 'a', mimeType: 'text/plain', size: 15, description: 'A note.' }],
          nextCursor: 'two',
        },
  templates: [{ uriTemplate: 'notes://{id}', name: 'note' }],
  read: (uri) => ({ contents: [{ uri, ...contents[uri] }] }),
};

async function aServer(generation: '2025' | '2026' = '2026', resources = notes): Promise<McpServerRequest> {
  server = await McpServerFixture.open(generation);
  server.resources = resources;
  return { name: 'notes', transport: 'streamable_http', url: server.url };
}

async function namesIn(request: McpServerRequest): Promise<readonly string[]> {
  const found = await fixture.list(request);
  if (found.how !== 'connected') throw new Error(found.reason);
  return found.tools.map(({ name }) => name);
}

describe.each(['2025', '2026'] as const)('the resources of a server of the generation of %s', (generation) => {
  it('are listed in pages, and read by their URI', async () => {
    const request = await aServer(generation);
    expect(await namesIn(request)).toEqual(['notes__echo', 'notes__list_resources', 'notes__read_resource']);

    const first = await fixture.use(request, 'notes__list_resources');
    expect(first.output).toBe(
      '- notes://a (a, text/plain, 15 bytes): A note.\nThere are more: go on with the cursor "0:two".',
    );
    const second = await fixture.use(request, 'notes__list_resources', { cursor: '0:two' });
    expect(second.output).toBe('- notes://b (b)');
    const templates = await fixture.use(request, 'notes__list_resources', { templates: true });
    expect(templates.output).toBe('- notes://{id} (note)');
    expect(await fixture.use(request, 'notes__read_resource', { uri: 'notes://a' })).toEqual({
      success: true,
      output: '[resource notes://a]\nThe first note.',
    });
  });

  it('are images, and files of the workspace where a model is shown no bytes', async () => {
    const request = await aServer(generation);
    await fixture.list(request);
    expect(await fixture.use(request, 'notes__read_resource', { uri: 'notes://pixel' })).toMatchObject({
      output: '[resource notes://pixel, an image]',
      image: { media_type: 'image/png', data: pixel },
    });

    const archive = await fixture.use(request, 'notes__read_resource', { uri: 'notes://archive.zip?v=1' });
    const [, path = ''] =
      /, 4 bytes, in the file \/workspace\/(resources\/notes\/\S+_1_archive\.zip)\]$/.exec(archive.output) ?? [];
    expect(await fixture.file(path)).toEqual(bytes);

    const long = await fixture.use(request, 'notes__read_resource', { uri: 'notes://long' });
    expect(long).toMatchObject({ truncated: true });
    const [, whole = ''] =
      /^\[resource notes:\/\/long\]\n\[40000 characters, in the file \/workspace\/(\S+)\]\n/.exec(long.output) ?? [];
    expect((await fixture.file(whole)).length).toBe(40_000);
  });

  it('that a result links to are named with what can be read', async () => {
    const request = await aServer(generation);
    server.answer = () => ({
      content: [
        { type: 'resource_link', uri: 'notes://a', name: 'a', mimeType: 'text/plain', description: 'A note.' },
        { type: 'resource', resource: { uri: 'notes://pixel', blob: pixel } },
      ],
    });
    await fixture.list(request);
    expect(await fixture.use(request, 'notes__echo', { text: '' })).toMatchObject({
      output: '[resource notes://a: a, text/plain, A note.]\n\n[resource notes://pixel, an image]',
      image: { data: pixel },
    });
  });
});

it('a server of the official package in the sandbox offers its resources', async () => {
  const sandbox = await fixture.readSandbox('thr_one');
  await sandbox.files.write('packaged.cjs', packagedServer('2026'), { mode: 'put' });
  const packaged: McpServerRequest = {
    name: 'notes',
    transport: 'stdio',
    command: 'exec node /workspace/packaged.cjs',
  };
  await namesIn(packaged);
  expect(await fixture.use(packaged, 'notes__read_resource', { uri: 'notes://a' })).toMatchObject({
    output: '[resource notes://a]\nA note.',
  });
});

describe('the tools of resources', () => {
  it('are all that is offered of a server that has no tools', async () => {
    const request = await aServer();
    server.hasTools = false;
    expect(await namesIn(request)).toEqual(['notes__list_resources', 'notes__read_resource']);
  });

  it('are offered like others where a run names the tools that it wants', async () => {
    const request = await aServer();
    expect(await namesIn({ ...request, tools: ['echo'] })).toEqual(['notes__echo']);
    expect(await namesIn({ ...request, tools: ['resources/read'] })).toEqual(['notes__read_resource']);
  });

  it('leave their name to a tool of the server', async () => {
    const request = await aServer();
    server.tools = [{ name: 'read_resource', inputSchema: anyObject }];
    expect(await namesIn(request)).toEqual([
      'notes__read_resource',
      'notes__list_resources',
      expect.stringMatching(/^notes__resources_read_[0-9a-f]{8}$/),
    ]);
  });

  it('say which resource the server does not have', async () => {
    const request = await aServer('2026', {
      ...notes,
      read: () => {
        throw new Error('no such note');
      },
    });
    await fixture.list(request);
    expect((await fixture.use(request, 'notes__read_resource', { uri: 'notes://c' })).error).toContain('no such note');
  });
});

describe('attack: the resources of an MCP server', () => {
  it('of other schemes are names that nothing but the server reads', async () => {
    const asked: string[] = [];
    const request = await aServer('2026', {
      list: () => ({ resources: [{ uri: 'file:///etc/passwd', name: 'x' }] }),
      read: (uri) => {
        asked.push(uri);
        return { contents: [{ uri, text: 'of the server' }] };
      },
    });
    await fixture.list(request);
    for (const uri of ['file:///etc/passwd', 'http://169.254.169.254/', 'javascript:1']) {
      const read = await fixture.use(request, 'notes__read_resource', { uri });
      expect(read.output).toBe(`[resource ${uri}]\nof the server`);
    }
    expect(asked).toHaveLength(3);
  });

  it('in a list of 10,000 are read a page at a time', async () => {
    const resources = Array.from({ length: 10_000 }, (_, index) => ({
      uri: `notes://${index}`,
      name: 'x'.repeat(1_000),
    }));
    const request = await aServer('2026', { ...notes, list: () => ({ resources, nextCursor: 'again' }) });
    await fixture.list(request);
    const { output } = await fixture.use(request, 'notes__list_resources');
    expect(output.length).toBeLessThan(30_000);
    const [, cursor = ''] = /the cursor "(.*)"\.$/.exec(output) ?? [];
    const next = await fixture.use(request, 'notes__list_resources', { cursor });
    expect(next.output).toContain(`- notes://${cursor.split(':')[0]} `);
  });

  it('in a list without an end end where its cursor is the one that was given', async () => {
    const request = await aServer('2026', { ...notes, list: () => ({ resources: [], nextCursor: 'more' }) });
    await fixture.list(request);
    expect((await fixture.use(request, 'notes__list_resources')).output).toContain('"0:more"');
    expect((await fixture.use(request, 'notes__list_resources', { cursor: '0:more' })).output).toBe('There are none.');
  });

  it('of 100 MB are read no further than their limit', async () => {
    const request = await aServer('2026', {
      ...notes,
      read: (uri) => ({ contents: [{ uri, text: 'x'.repeat(100_000_000) }] }),
    });
    await fixture.list(request);
    expect((await fixture.use(request, 'notes__read_resource', { uri: 'notes://a' })).error).toContain(
      '16777216 bytes',
    );
  });

  it('of a thousand parts become few files, and none outside of their folder', async () => {
    const parts = Array.from({ length: 1_000 }, () => ({ uri: 'notes:///../../../etc/..', blob: 'AAAA' }));
    const request = await aServer('2026', { ...notes, read: () => ({ contents: parts }) });
    await fixture.list(request);
    const { output } = await fixture.use(request, 'notes__read_resource', { uri: 'notes://a' });
    expect(output.match(/in the file \/workspace\/resources\/notes\/[A-Za-z0-9_]+_\.\.\]/g)).toHaveLength(20);
  });

  it('cannot be those of a tool with the name of the operation', async () => {
    const request = await aServer();
    server.tools = [{ name: 'resources/read', inputSchema: anyObject }];
    expect(await fixture.list(request)).toMatchObject({
      tools: [{ name: 'notes__list_resources' }, { name: 'notes__read_resource' }],
      refused: [{ tool: 'resources/read' }],
    });
  });
});
