import { mkdtempSync, rmSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkSettings } from './check-settings';
import { createEmbeddedProvider, sandboxSettings } from './sandboxes';
import { ApiServer, json } from './testing/api-server';

const key = 'a-secret-key';
const silent = { info: () => undefined, warn: () => undefined };

describe('the check of settings', () => {
  let api: ApiServer;
  let isRefused = false;
  beforeAll(async () => {
    api = await ApiServer.open((_request, response) => answer(response));
  });
  beforeEach(() => {
    isRefused = false;
    api.received.length = 0;
  });
  afterAll(() => api.close());

  /** As Tavily, Firecrawl and a data provider answer. */
  function answer(response: ServerResponse): void {
    if (isRefused) return json(response, { error: `invalid key ${key}` }, 401);
    const data = { markdown: '# Example', metadata: { title: 'Example' } };
    json(response, { results: [], success: true, data });
  }

  const everything = () => ({
    ...{ TAVILY_API_KEY: key, TAVILY_URL: api.url },
    ...{ FIRECRAWL_API_KEY: key, FIRECRAWL_URL: api.url },
    ...{ RAPIDAPI_KEY: key, RAPIDAPI_URL: api.url },
  });

  /** A gate to which every name is a public address. */
  const openGate = async <Result>(work: (gate: Parameters<typeof checkSettings>[1]) => Promise<Result>) => {
    const root = mkdtempSync(join(tmpdir(), 'rondo-gate-'));
    const rules = { resolve: async () => ['93.184.216.34'], isAllowed: () => true };
    const provider = createEmbeddedProvider(sandboxSettings.parse({ root }), silent, rules);
    try {
      return await work(provider.toEgress('thr_check'));
    } finally {
      await provider.close();
      rmSync(root, { recursive: true, force: true });
    }
  };

  it('sends the requests of the tools, and says that they work', async () => {
    expect(await openGate((gate) => checkSettings(everything(), gate))).toEqual([
      { what: 'web search', works: true },
      { what: 'page reader', works: true },
      { what: 'data providers', works: true },
    ]);
    expect(api.received.map(({ path }) => path).sort()).toEqual(['/api/v1/markets/search', '/search', '/v2/scrape']);
  });

  it('says why one does not work, without the key', async () => {
    isRefused = true;

    const [search] = await checkSettings({ TAVILY_API_KEY: key, TAVILY_URL: api.url });

    expect(search).toMatchObject({ what: 'web search', works: false, reason: expect.stringContaining('401') });
    expect(JSON.stringify(search)).not.toContain(key);
  });

  it('leaves out what is not configured', async () => {
    expect(await checkSettings({ PAGE_READER: 'built_in', TAVILY_API_KEY: '' })).toEqual([]);
  });

  it('asks the Docker engine for a sandbox', async () => {
    const checked = await checkSettings({
      SANDBOX_PROVIDER: 'docker',
      SANDBOX_INSTALL: 'spec',
      DOCKER_SOCKET: '/nonexistent/docker.sock',
    });

    expect(checked).toMatchObject([{ what: 'sandboxes', works: false, reason: expect.stringContaining('ENOENT') }]);
  });

  it('asks Daytona', async () => {
    isRefused = true;
    const checked = await checkSettings({
      SANDBOX_PROVIDER: 'daytona',
      SANDBOX_INSTALL: 'spec',
      DAYTONA_API_URL: api.url,
      DAYTONA_API_KEY: key,
    });

    expect(checked).toMatchObject([{ what: 'sandboxes', works: false, reason: expect.any(String) }]);
    expect(JSON.stringify(checked)).not.toContain(key);
  });

  it('says which setting is invalid or missing', async () => {
    const [missing] = await checkSettings({ SANDBOX_PROVIDER: 'daytona', SANDBOX_INSTALL: 'spec' });

    expect(missing).toMatchObject({
      what: 'settings',
      works: false,
      reason: expect.stringContaining('DAYTONA_API_URL'),
    });
  });
});
