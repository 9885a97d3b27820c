import type { ServerResponse } from 'node:http';
import { ApiServer, json } from '../../testing/api-server';
import { ExecutorFixture, aCall } from '../../testing/executor-fixture';
import { type ServiceSettings, serviceSettings } from '../../services/service-settings';
import { createToolServices } from '../tool-services';
import { PageReader } from './page-reader';

const key = 'fc-1234567890';
const pages: Record<string, { markdown: string; metadata: { title: string } }> = {
  'http://a.example/': { markdown: '# A', metadata: { title: 'Page A' } },
  'http://b.example/': { markdown: '# B', metadata: { title: 'Page B' } },
};

describe('pages through Firecrawl', () => {
  let failures: number;
  let api: ApiServer;
  let fixture: ExecutorFixture;

  beforeAll(async () => {
    api = await ApiServer.open(({ body }, response) => answer(body as { url: string }, response)); // as Firecrawl documents it
    const settings = serviceSettings({ FIRECRAWL_API_KEY: key, FIRECRAWL_URL: api.url });
    const egress = {
      resolve: async () => ['93.184.216.34'],
      isAllowed: (address: string) => !address.startsWith('10.'),
    };
    fixture = await ExecutorFixture.open({}, egress, { services: createToolServices(settings, { pauseMs: 1 }) });
  });
  afterAll(async () => {
    await fixture.close();
    await api.close();
  });
  beforeEach(() => {
    api.received.length = 0;
    failures = 0;
  });

  function answer({ url }: { url: string }, response: ServerResponse): void {
    if (failures > 0) {
      failures -= 1;
      return json(response, { success: false, error: 'busy' }, 503);
    }
    const data = pages[url];
    if (data) json(response, { success: true, data });
    else json(response, { success: false, error: `not found for ${key}` }, 404);
  }

  it('scrape_webpage saves each page as JSON, and lists what could not be saved', async () => {
    const urls = 'http://a.example/, http://b.example/,http://c.example/';

    const { success, output } = await fixture.use('scrape_webpage', { urls });

    expect(success).toBe(true);
    const [head, ...lines] = output.split('\n');
    expect(head).toBe('Saved 2 of 3 pages.');
    expect(lines[0]).toMatch(/^- \/workspace\/scrape\/\w+_1_a\.example\.json \(\d+ bytes\): Page A$/);
    expect(lines[2]).toBe(
      '- http://c.example/: Firecrawl answered with status 404: {"success":false,"error":"not found for [redacted]"}',
    );
    const file = /\/workspace\/\S+/.exec(lines[1] ?? '')?.[0] ?? '';
    const saved = (await fixture.use('read_file', { file_path: file })).output;
    expect(JSON.parse(saved)).toEqual({ url: 'http://b.example/', title: 'Page B', text: '# B' });
    expect(api.received[0]).toMatchObject({
      path: '/v2/scrape',
      headers: { authorization: `Bearer ${key}` },
      body: { formats: ['markdown'] },
    });
  });

  it('tries three times, and no more', async () => {
    failures = 2;
    expect(await fixture.use('visit_webpage', { url: 'http://a.example/' })).toEqual({
      success: true,
      output: '# Page A\nhttp://a.example/\n\n# A',
    });
    expect(api.received).toHaveLength(3);

    failures = 3;
    expect((await fixture.use('visit_webpage', { url: 'http://a.example/' })).error).toContain('status 503');
    expect(api.received).toHaveLength(6);
  });

  it('repeats under the same names', async () => {
    const call = aCall('scrape_webpage', { urls: 'http://a.example/' }, { thread: 'thr_again' });

    await fixture.reply(call);
    await fixture.reply({ ...call, attempt: 2 });

    const { output } = await fixture.use('list_files', { path: 'scrape' }, { thread: 'thr_again' });
    expect(output.split('\n')).toHaveLength(1);
  });

  it('attack: a private address is not passed on to Firecrawl', async () => {
    const { error } = await fixture.use('visit_webpage', { url: 'http://10.0.0.1/' });

    expect(error).toContain('10.0.0.1 is not a public address');
    expect(api.received).toEqual([]);
  });
});

describe('pages through another service', () => {
  let answer: unknown;
  let api: ApiServer;
  let fixture: ExecutorFixture;

  beforeAll(async () => {
    api = await ApiServer.open((_, response) => json(response, answer));
  });
  afterAll(() => api.close());
  beforeEach(() => (api.received.length = 0));
  afterEach(() => fixture.close());

  async function visit(settings: Partial<ServiceSettings>) {
    const services = createToolServices(serviceSettings(settings), { pauseMs: 1 });
    fixture = await ExecutorFixture.open({}, { resolve: async () => ['93.184.216.34'] }, { services });
    return fixture.use('visit_webpage', { url: 'http://a.example/' });
  }

  it('reads with Jina', async () => {
    answer = { code: 200, data: { title: 'Page A', url: 'http://a.example/', content: '# A' } };

    const { output } = await visit({ PAGE_READER: 'jina', JINA_API_KEY: key, JINA_READER_URL: api.url });

    expect(output).toBe('# Page A\nhttp://a.example/\n\n# A');
    expect(api.received).toMatchObject([
      { method: 'POST', path: '/', headers: { authorization: `Bearer ${key}` }, body: { url: 'http://a.example/' } },
    ]);
  });

  it('reads with Tavily, which is not used for pages unless that is said', async () => {
    answer = { results: [{ url: 'http://a.example/', raw_content: '# A' }], failed_results: [] };

    const { output } = await visit({ PAGE_READER: 'tavily', TAVILY_API_KEY: key, TAVILY_URL: api.url });

    expect(output).toContain('# A');
    expect(api.received).toMatchObject([{ path: '/extract', body: { urls: ['http://a.example/'] } }]);
    expect(createToolServices(serviceSettings({ TAVILY_API_KEY: key })).pages).toBeInstanceOf(PageReader);
  });

  it('says when the service has read nothing', async () => {
    answer = { results: [], failed_results: [{ url: 'http://a.example/', error: 'gone' }] };

    const { error } = await visit({ PAGE_READER: 'tavily', TAVILY_API_KEY: key, TAVILY_URL: api.url });

    expect(error).toContain('Tavily found no text in it');
  });
});

it('a reader without its key is refused at the start', () => {
  expect(() => createToolServices(serviceSettings({ PAGE_READER: 'jina' }))).toThrow(
    'PAGE_READER is jina, which needs JINA_API_KEY.',
  );
});
