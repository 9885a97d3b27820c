import { inspect } from 'node:util';
import { serviceSettings } from '../services/service-settings';
import { Secrets } from '../services/secrets';
import { ApiServer, json } from '../testing/api-server';
import { ExecutorFixture } from '../testing/executor-fixture';
import { createToolServices } from './tool-services';

const canary = 'canary+key/5f3a9c';
const forms = [canary, encodeURIComponent(canary), Buffer.from(canary).toString('base64')];

describe('attack: keys of services', () => {
  let api: ApiServer;
  let fixture: ExecutorFixture;
  let status = 200;
  /** What the log and the live view get. */
  const seen: unknown[] = [];

  beforeAll(async () => {
    api = await ApiServer.open(({ headers }, response) => {
      const echo = `${JSON.stringify(headers)} ${forms.join(' ')}`;
      const page = { title: echo, url: 'https://a.example/', content: echo, [canary]: echo };
      const data = { markdown: echo, metadata: { title: echo } };
      json(response, { answer: echo, results: [page], images: [canary], data, [canary]: 1 }, status);
    });
    const settings = serviceSettings({
      ...{ TAVILY_API_KEY: canary, TAVILY_URL: api.url, FIRECRAWL_API_KEY: canary, FIRECRAWL_URL: api.url },
      ...{ RAPIDAPI_KEY: canary, RAPIDAPI_URL: api.url },
    });
    const egress = { resolve: async () => ['93.184.216.34'], isAllowed: () => true };
    const write = (fields: object, text: string) => void seen.push({ ...fields, error: inspect(fields) }, text);
    const services = createToolServices(settings, { pauseMs: 1 });
    fixture = await ExecutorFixture.open({}, egress, { services, log: { debug: write, error: write } });
  });
  afterAll(async () => {
    await fixture.close();
    await api.close();
  });

  it.each([200, 401, 500])('a service that answers with its key and status %d', async (answered) => {
    status = answered;
    const output = (text: string) => void seen.push(text);
    const use = (name: string, input: Record<string, unknown>) => fixture.use(name, input, { output });
    const results = [
      await use('web_search', { query: 'sky' }),
      await use('visit_webpage', { url: 'http://a.example/' }),
      await use('scrape_webpage', { urls: 'http://a.example/' }),
      await use('execute_data_provider_call', {
        ...{ service_name: 'twitter', route: 'user_info', payload: { screenname: 'nasa' } },
      }),
    ];
    const command =
      'env; cat /proc/self/environ; cat scrape/* 2>/dev/null; find / -xdev -newer /etc/hosts -type f 2>/dev/null';
    const sandbox = await use('execute_command', { command, blocking: true });

    expect(results.map(({ success }) => success)).toEqual(Array(4).fill(answered === 200));
    const everything = JSON.stringify([results, sandbox, seen]);
    expect(forms.filter((form) => everything.includes(form))).toEqual([]);
    expect(everything).toContain('[redacted]');
    expect(seen).not.toEqual([]);
  });

  it('a key that is written with escapes', () => {
    const escaped = canary
      .split('')
      .map((character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join('');

    expect(new Secrets([canary]).parse(`{"a":"${escaped}"}`)).toEqual({ a: '[redacted]' });
  });
});
