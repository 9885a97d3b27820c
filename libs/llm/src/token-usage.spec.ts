import { requestTo } from './testing/read-model-reply';
import { toUsage } from './token-usage';

describe('toUsage', () => {
  const price = { input: 10, output: 50, cache_read: 1, cache_write: 12.5 };
  const call = { request: requestTo('a/b'), outputLength: 10, price };

  it('applies the price of each kind of token', () => {
    const reported = { input: 1000, cacheRead: 600, cacheWrite: 300, output: 20 };
    expect(toUsage({ ...call, reported })).toEqual({
      input_tokens: 1000,
      cached_tokens: 600,
      output_tokens: 20,
      cost_usd: (100 * 10 + 600 * 1 + 300 * 12.5 + 20 * 50) / 1_000_000,
      estimated: false,
      cacheWriteTokens: 300,
    });
  });

  it('charges 1.6 times as much for what is cached for an hour as for what is cached for five minutes', () => {
    const reported = { input: 1000, cacheWrite: 300, cacheWriteHour: 100, output: 0 };
    const { cost_usd } = toUsage({ ...call, outputLength: 0, reported });
    expect(cost_usd).toBeCloseTo((700 * 10 + 200 * 12.5 + 100 * 20) / 1_000_000, 12);
  });

  it('applies the higher price of a long prompt', () => {
    const long = { ...price, long_prompt: { above_tokens: 100, input_factor: 2, output_factor: 1.5 } };
    const cost = (input: number) => toUsage({ ...call, price: long, reported: { input, output: 10 } }).cost_usd;
    expect(cost(100)).toBeCloseTo((100 * 10 + 10 * 50) / 1_000_000, 12);
    expect(cost(101)).toBeCloseTo((101 * 20 + 10 * 75) / 1_000_000, 12);
  });

  it('estimates what was not reported, and marks it as estimated', () => {
    expect(toUsage({ ...call, price: undefined, reported: {} })).toMatchObject({
      input_tokens: expect.any(Number),
      output_tokens: 3,
      cost_usd: null,
      estimated: true,
    });
    expect(toUsage({ ...call, reported: { input: 5 } })).toMatchObject({
      input_tokens: 5,
      output_tokens: 3,
      estimated: true,
    });
  });

  it('estimates when 0 tokens are reported for a prompt, or for a reply with text, as some servers do', () => {
    const none = { input: 0, output: 0 };
    expect(toUsage({ ...call, reported: none })).toEqual(toUsage({ ...call, reported: {} }));
    expect(toUsage({ ...call, outputLength: 0, reported: { input: 5, output: 0 } })).toMatchObject({
      output_tokens: 0,
      estimated: false,
    });
  });

  it('does not count the bytes of an image as text', () => {
    const source = { type: 'base64' as const, media_type: 'image/png' as const, data: 'A'.repeat(1_000_000) };
    const request = requestTo('a/b', { messages: [{ role: 'user', content: [{ type: 'image', source }] }] });
    expect(toUsage({ ...call, request, reported: {} }).input_tokens).toBeLessThan(2000);
  });
});

describe('odd figures of a provider', () => {
  const call = { request: requestTo('a/b'), outputLength: 10, price: { input: 10, output: 50, cache_read: 1 } };

  it('are never negative, never a fraction, and no more is cached than was sent', () => {
    const odd = { input: 100.5, output: 2.25, cacheRead: 12_000, cacheWrite: 50 };
    expect(toUsage({ ...call, reported: odd })).toMatchObject({
      input_tokens: 101,
      cached_tokens: 101,
      output_tokens: 3,
    });
    expect(toUsage({ ...call, reported: { input: -1, output: -1 } })).toEqual(toUsage({ ...call, reported: {} }));
    expect(toUsage({ ...call, reported: { input: 5, output: 3, reasoning: 12.5 } })).toHaveProperty(
      'reasoningTokens',
      3,
    );
  });

  it('are charged at the cost that the provider names, beside that of our price', () => {
    const reported = { input: 100, output: 10, costUsd: 0.25 };
    expect(toUsage({ ...call, reported })).toMatchObject({ cost_usd: 0.25, listCostUsd: 0.0015 });
    expect(toUsage({ ...call, price: undefined, reported })).not.toHaveProperty('listCostUsd');
  });
});
