import { factsOf, knownModels } from './model-facts';
import { requestTo } from './testing/ask';
import { usageOf } from './token-usage';

const facts = (name: string, id: string) => factsOf({ name, models: [] }, id);

describe('factsOf', () => {
  it('takes a version of a known model for that model, and a longer name for another', () => {
    expect(facts('openai', 'gpt-5-2025-08-07')?.id).toBe('gpt-5');
    expect(facts('openai', 'gpt-5-mini')?.id).toBe('gpt-5-mini');
    expect(facts('anthropic', 'claude-haiku-4-5-20251001')?.id).toBe('claude-haiku-4-5');
    expect(facts('anthropic', 'claude-opus-5-5')?.price?.input).toBe(4);
    expect(facts('openai', 'gpt-5-pro')).toBeUndefined();
    expect(facts('acme', 'gpt-5')).toBeUndefined();
  });

  it('believes the configuration before the list', () => {
    const declared = { id: 'gpt-5', price: { input: 9, output: 9 } };
    expect(factsOf({ name: 'openai', models: [declared] }, 'gpt-5')).toBe(declared);
  });

  it('takes any demo model for free', () => {
    expect(facts('demo', 'slow-tool:seconds=3')?.price).toEqual({ input: 0, output: 0 });
    expect(facts('demo-anthropic', 'coder')?.price).toEqual({ input: 0, output: 0 });
  });

  it('knows no model twice', () => {
    for (const models of knownModels.values()) expect(new Set(models.map(({ id }) => id)).size).toBe(models.length);
  });
});

describe('usageOf', () => {
  const price = { input: 10, output: 50, cache_read: 1, cache_write: 12.5 };
  const call = { request: requestTo('a/b'), outputLength: 10, price };

  it('charges each kind of token its own price', () => {
    const reported = { input: 1000, cacheRead: 600, cacheWrite: 300, output: 20 };
    expect(usageOf({ ...call, reported })).toEqual({
      input_tokens: 1000,
      cached_tokens: 600,
      output_tokens: 20,
      cost_usd: (100 * 10 + 600 * 1 + 300 * 12.5 + 20 * 50) / 1_000_000,
      estimated: false,
    });
  });

  it('charges a long prompt more where the model does', () => {
    const long = { ...price, long_prompt: { above_tokens: 100, input_factor: 2, output_factor: 1.5 } };
    const cost = (input: number) => usageOf({ ...call, price: long, reported: { input, output: 10 } }).cost_usd;
    expect(cost(100)).toBeCloseTo((100 * 10 + 10 * 50) / 1_000_000, 12);
    expect(cost(101)).toBeCloseTo((101 * 20 + 10 * 75) / 1_000_000, 12);
  });

  it('estimates what was not reported, and says so', () => {
    expect(usageOf({ ...call, price: undefined, reported: {} })).toMatchObject({
      input_tokens: expect.any(Number),
      output_tokens: 3,
      cost_usd: null,
      estimated: true,
    });
    expect(usageOf({ ...call, reported: { input: 5 } })).toMatchObject({
      input_tokens: 5,
      output_tokens: 3,
      estimated: true,
    });
  });

  it('does not take the bytes of an image for words', () => {
    const source = { type: 'base64' as const, media_type: 'image/png', data: 'A'.repeat(1_000_000) };
    const request = requestTo('a/b', { messages: [{ role: 'user', content: [{ type: 'image', source }] }] });
    expect(usageOf({ ...call, request, reported: {} }).input_tokens).toBeLessThan(2000);
  });
});
