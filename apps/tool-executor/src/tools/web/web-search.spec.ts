import { ApiServer, type ApiRequest, json } from '../../testing/api-server';
import { ExecutorFixture } from '../../testing/executor-fixture';
import { type ServiceSettings, serviceSettings } from '../../services/service-settings';
import { createToolServices } from '../tool-services';

const key = 'key-1234567890';

describe('web_search', () => {
  let answer: (request: ApiRequest) => unknown;
  let status = 200;
  let api: ApiServer;
  let fixture: ExecutorFixture;

  beforeAll(async () => {
    api = await ApiServer.open((request, response) => json(response, answer(request), status));
  });
  afterAll(() => api.close());
  beforeEach(() => {
    api.received.length = 0;
    status = 200;
  });
  afterEach(() => fixture.close());

  const search = async (settings: Partial<ServiceSettings>, args: Record<string, unknown>) => {
    fixture = await ExecutorFixture.open({}, {}, { services: createToolServices(serviceSettings(settings)) });
    return fixture.use('web_search', args);
  };

  it('asks Tavily in depth, and shows its answer, pages and images', async () => {
    answer = () => ({
      answer: 'It is blue.',
      results: [{ title: 'Sky', url: 'https://sky.example/', content: 'The sky is blue.', score: 0.9 }],
      images: ['https://sky.example/a.png'],
    });

    const result = await search({ TAVILY_API_KEY: key, TAVILY_URL: api.url }, { query: 'sky', num_results: 3 });

    expect(api.received).toMatchObject([
      { method: 'POST', path: '/search', headers: { authorization: `Bearer ${key}` } },
    ]);
    expect(api.received[0]?.body).toEqual({
      ...{ query: 'sky', max_results: 3, search_depth: 'advanced' },
      ...{ include_answer: 'advanced', include_images: true },
    });
    expect(result).toEqual({
      success: true,
      output:
        'Answer: It is blue.\n\n1. Sky\nhttps://sky.example/\nThe sky is blue.\n\nImages:\n- https://sky.example/a.png',
    });
  });

  it('asks Brave Search', async () => {
    answer = () => ({ web: { results: [{ title: 'Sky', url: 'https://sky.example/', description: 'Blue.' }] } });

    const result = await search({ BRAVE_API_KEY: key, BRAVE_URL: api.url }, { query: 'sky & sea' });

    const [request] = api.received;
    expect(request).toMatchObject({ path: '/res/v1/web/search', headers: { 'x-subscription-token': key } });
    expect([request?.query.get('q'), request?.query.get('count')]).toEqual(['sky & sea', '20']);
    expect(result.output).toBe('1. Sky\nhttps://sky.example/\nBlue.');
  });

  it('asks Serper', async () => {
    answer = () => ({
      answerBox: { answer: '42' },
      organic: [{ title: 'Sky', link: 'https://sky.example/', snippet: 'Blue.' }],
    });

    const result = await search({ SERPER_API_KEY: key, SERPER_URL: api.url }, { query: 'sky' });

    expect(api.received).toMatchObject([{ headers: { 'x-api-key': key }, body: { q: 'sky', num: 20 } }]);
    expect(result.output).toBe('Answer: 42\n\n1. Sky\nhttps://sky.example/\nBlue.');
  });

  it('asks SerpApi', async () => {
    answer = () => ({
      answer_box: { snippet: '42' },
      organic_results: [{ title: 'Sky', link: 'https://sky.example/', snippet: 'Blue.' }],
    });

    const result = await search({ SERPAPI_API_KEY: key, SERPAPI_URL: api.url }, { query: 'sky' });

    expect(api.received[0]?.path).toBe('/search.json');
    expect(Object.fromEntries(api.received[0]?.query ?? [])).toEqual({
      ...{ engine: 'google', q: 'sky', num: '20', api_key: key },
    });
    expect(result.output).toBe('Answer: 42\n\n1. Sky\nhttps://sky.example/\nBlue.');
  });

  it('asks Jina', async () => {
    answer = () => ({ code: 200, data: [{ title: 'Sky', url: 'https://sky.example/', description: 'Blue.' }] });

    const result = await search({ JINA_API_KEY: key, JINA_SEARCH_URL: api.url }, { query: 'sky' });

    expect(api.received).toMatchObject([
      { method: 'POST', headers: { authorization: `Bearer ${key}` }, body: { q: 'sky', num: 20 } },
    ]);
    expect(result.output).toBe('1. Sky\nhttps://sky.example/\nBlue.');
  });

  it('asks a SearXNG server, without a key', async () => {
    const results = Array.from({ length: 60 }, (_, index) => ({
      ...{ title: `Page ${index}`, url: `https://${index}.example/`, content: '' },
    }));
    answer = () => ({ results, answers: [{ answer: 'Blue.' }] });

    const result = await search({ SEARXNG_URL: api.url }, { query: 'sky', num_results: 500 });

    expect(api.received[0]?.query.get('format')).toBe('json');
    expect(result.output.match(/^\d+\. Page/gm)).toHaveLength(50);
  });

  it('succeeds with an answer alone, and fails without anything', async () => {
    answer = () => ({ results: [], answers: ['Blue.'] });
    expect(await search({ SEARXNG_URL: api.url }, { query: 'sky' })).toEqual({
      success: true,
      output: 'Answer: Blue.',
    });

    answer = () => ({ results: [] });
    expect(await fixture.use('web_search', { query: 'sky' })).toMatchObject({
      success: false,
      error: 'Nothing was found.',
    });
  });

  it('reports what the engine refuses, without the key', async () => {
    status = 401;
    answer = () => ({ detail: `the key ${key} is not valid` });

    const result = await search({ TAVILY_API_KEY: key, TAVILY_URL: api.url }, { query: 'sky' });

    expect(result.error).toBe('Tavily answered with status 401: {"detail":"the key [redacted] is not valid"}');
  });

  it('prefers the first engine that is configured, and says when there is none', async () => {
    answer = () => ({ answer: 'from Tavily' });
    const settings = { SEARXNG_URL: 'http://127.0.0.1:1', TAVILY_API_KEY: key, TAVILY_URL: api.url };
    expect((await search(settings, { query: 'sky' })).output).toContain('from Tavily');

    await fixture.close();
    expect((await search({}, { query: 'sky' })).error).toBe('No search engine is configured here.');
  });

  it('reports an engine that cannot be reached, and an answer of an unknown form', async () => {
    const closed = await search({ SEARXNG_URL: 'http://127.0.0.1:1' }, { query: 'sky' });
    expect(closed.error).toBe('SearXNG could not be reached.');

    await fixture.close();
    answer = () => ({ results: 'none' });
    const wrong = await search({ SEARXNG_URL: api.url }, { query: 'sky' });
    expect(wrong.error).toBe('SearXNG sent an answer of an unknown form.');
  });
});
