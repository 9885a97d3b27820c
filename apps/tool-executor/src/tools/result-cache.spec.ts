import type { ToolResult } from '@rondo/contract';
import { serviceSettings } from '../services/service-settings';
import { ApiServer, json } from '../testing/api-server';
import { ExecutorFixture } from '../testing/executor-fixture';
import { ResultCache } from './result-cache';
import { createToolServices } from './tool-services';

const startMs = Date.parse('2026-03-01T10:00:00Z');
const search = { tool: { name: 'web_search' }, input: { query: 'sky', num_results: 3 }, account: 'acc_1' };

/** A cache, a clock, and work that counts how often it is done. */
class CacheFixture {
  now = startMs;
  private done = 0;
  private readonly cache: ResultCache;

  constructor({ ttlS = 60, results = 10 }: { ttlS?: number | undefined; results?: number } = {}) {
    this.cache = new ResultCache({ ttlS, results, nowMs: () => this.now });
  }

  ask(call: Partial<typeof search> = {}, success = true): Promise<ToolResult> {
    return this.cache.readResult({ ...search, ...call }, async () => ({ success, output: `done ${(this.done += 1)}` }));
  }
}

describe('ResultCache', () => {
  it('gives a result again until it is too old, and says that it does', async () => {
    const fixture = new CacheFixture();
    await fixture.ask();

    fixture.now += 5_000;
    const again = { success: true, output: '[from the cache, 5 s old]\ndone 1', cached_at: '2026-03-01T10:00:00.000Z' };
    expect(await fixture.ask()).toEqual(again);
    expect(await fixture.ask({ input: { num_results: 3, query: 'sky' } })).toEqual(again);
    fixture.now += 55_000;
    expect(await fixture.ask()).toEqual({ success: true, output: 'done 2' });
  });

  it.each([
    ['account', { account: 'acc_2' }],
    ['tool', { tool: { name: 'visit_webpage' } }],
    ['arguments', { input: { query: 'sea', num_results: 3 } }],
  ])('gives it to no other %s', async (_, other) => {
    const fixture = new CacheFixture();
    await fixture.ask();

    expect(await fixture.ask(other)).toEqual({ success: true, output: 'done 2' });
  });

  it('keeps no failure', async () => {
    const fixture = new CacheFixture();
    await fixture.ask({}, false);

    expect(await fixture.ask()).toEqual({ success: true, output: 'done 2' });
  });

  it('keeps no result of a tool that works in the sandbox, and nothing at all unless it is switched on', async () => {
    for (const [settings, call] of [
      [{}, { tool: { name: 'read_file' } }],
      [{ ttlS: 0 }, {}],
    ] as const) {
      const fixture = new CacheFixture(settings);
      await fixture.ask(call);

      expect(await fixture.ask(call)).toEqual({ success: true, output: 'done 2' });
    }
  });

  it('drops the result that was not asked for longest when there are too many', async () => {
    const fixture = new CacheFixture({ results: 2 });
    const ask = async (query: string) => (await fixture.ask({ input: { query, num_results: 3 } })).cached_at;
    for (const query of ['a', 'b', 'a', 'c']) await ask(query);

    expect([await ask('a'), await ask('c'), await ask('b')]).toEqual([
      '2026-03-01T10:00:00.000Z',
      '2026-03-01T10:00:00.000Z',
      undefined,
    ]);
  });
});

it.each([
  [{ TOOL_CACHE_S: 60 }, 1],
  [{}, 2],
])('with %j the engine is asked %d times for the same search', async (settings, times) => {
  const api = await ApiServer.open((_, response) => json(response, { answers: ['Blue.'] }));
  const services = createToolServices(serviceSettings({ SEARXNG_URL: api.url, ...settings }));
  const fixture = await ExecutorFixture.open({}, {}, { services });

  const first = await fixture.use('web_search', { query: 'sky' });
  const second = await fixture.use('web_search', { query: 'sky' });

  expect(first).toEqual({ success: true, output: 'Answer: Blue.' });
  expect(second.output.replace(/^\[from the cache, \d+ s old\]\n/, '')).toBe('Answer: Blue.');
  expect(second.cached_at !== undefined).toBe(times === 1);
  expect(api.received).toHaveLength(times);
  await fixture.close();
  await api.close();
});
