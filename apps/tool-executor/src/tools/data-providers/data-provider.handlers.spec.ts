import { serviceSettings } from '../../services/service-settings';
import { ApiServer, json } from '../../testing/api-server';
import { ExecutorFixture } from '../../testing/executor-fixture';
import { createToolServices } from '../tool-services';
import { providerCatalog } from './provider-catalog';

const key = 'rapid-1234567890';

describe('data providers', () => {
  let api: ApiServer;
  let fixture: ExecutorFixture;

  beforeAll(async () => {
    api = await ApiServer.open(({ path }, response) =>
      path === '/timeline.php'
        ? json(response, { message: `too many requests with ${key}` }, 429)
        : json(response, { path }),
    );
    const settings = serviceSettings({ RAPIDAPI_KEY: key, RAPIDAPI_URL: api.url });
    fixture = await ExecutorFixture.open({}, {}, { services: createToolServices(settings) });
  });
  afterAll(async () => {
    await fixture.close();
    await api.close();
  });
  beforeEach(() => (api.received.length = 0));

  const call = (service_name: string, route: string, payload?: Record<string, unknown>) =>
    fixture.use('execute_data_provider_call', { service_name, route, ...(payload && { payload }) });

  it.each(Object.keys(providerCatalog))('lists the routes of %s', async (service_name) => {
    const { success, output } = await fixture.use('get_data_provider_endpoints', { service_name });

    expect(success).toBe(true);
    for (const name of Object.keys(providerCatalog[service_name]?.routes ?? {})) expect(output).toContain(`${name}: `);
  });

  it('calls a route with its parameters in the query', async () => {
    const result = await call('twitter', 'user_info', { screenname: 'nasa' });

    expect(result).toEqual({ success: true, output: '{\n "path": "/screenname.php"\n}' });
    const [request] = api.received;
    expect(request?.headers).toMatchObject({
      ...{ 'x-rapidapi-key': key, 'x-rapidapi-host': 'twitter-api45.p.rapidapi.com' },
    });
    expect([request?.method, request?.query.get('screenname')]).toEqual(['GET', 'nasa']);
  });

  it('calls a route with its parameters in the body', async () => {
    await call('linkedin', 'person', { link: 'https://www.linkedin.com/in/someone/' });

    expect(api.received).toMatchObject([
      { method: 'POST', path: '/person', body: { link: 'https://www.linkedin.com/in/someone/' } },
    ]);
  });

  it('names the valid providers, routes and parameters where one is wrong', async () => {
    expect((await call('facebook', 'user')).error).toBe(
      'There is no data provider "facebook". Data providers: linkedin, twitter, zillow, amazon, yahoo_finance, active_jobs.',
    );
    expect((await fixture.use('get_data_provider_endpoints', { service_name: 'constructor' })).error).toContain(
      'no data provider',
    );
    expect((await call('twitter', 'toString')).error).toMatch(
      /^Twitter \(X\) has no route "toString". Routes: user_info,/,
    );
    expect((await call('twitter', 'user_info', { name: 'nasa' })).error).toBe(
      'Wrong parameters (missing: screenname; unknown: name). The route has: screenname, rest_id.',
    );
    expect(api.received).toEqual([]);
  });

  it('reports what the provider refuses, without the key', async () => {
    expect((await call('twitter', 'timeline', { screenname: 'nasa' })).error).toBe(
      'Twitter (X) answered with status 429: {"message":"too many requests with [redacted]"}',
    );
  });
});

it('the catalog has the six providers, with routes that are described', () => {
  expect(Object.keys(providerCatalog)).toEqual([
    'linkedin',
    'twitter',
    'zillow',
    'amazon',
    'yahoo_finance',
    'active_jobs',
  ]);
  for (const { routes } of Object.values(providerCatalog)) expect(Object.keys(routes).length).toBeGreaterThan(0);
});
