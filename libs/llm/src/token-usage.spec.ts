import { requestTo } from './testing/read-model-reply';
import { usageOf } from './token-usage';

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

  it('does not believe that a prompt was nothing, or that a reply was where there is one (RP18)', () => {
    const none = { input: 0, output: 0 };
    expect(usageOf({ ...call, reported: none })).toEqual(usageOf({ ...call, reported: {} }));
    expect(usageOf({ ...call, outputLength: 0, reported: { input: 5, output: 0 } })).toMatchObject({
      output_tokens: 0,
      estimated: false,
    });
  });

  it('does not take the bytes of an image for words', () => {
    const source = { type: 'base64' as const, media_type: 'image/png' as const, data: 'A'.repeat(1_000_000) };
    const request = requestTo('a/b', { messages: [{ role: 'user', content: [{ type: 'image', source }] }] });
    expect(usageOf({ ...call, request, reported: {} }).input_tokens).toBeLessThan(2000);
  });
});
