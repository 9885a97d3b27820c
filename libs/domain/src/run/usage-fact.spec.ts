import type { ModelEnd } from '../models/model';
import { CountingIds, TickingClock } from '../testing';
import { usageFactFor } from './usage-fact';

const countTokens = (tokens: number) => ({
  ...{ input_tokens: tokens, cached_tokens: tokens, output_tokens: tokens },
  ...{ cost_usd: 1, estimated: false },
});

const createFact = (usage: NonNullable<ModelEnd['usage']>) =>
  usageFactFor(
    {
      call: { model: 'demo/coder', iteration: 1, beganAt: '2026-01-01T00:00:00.000Z' },
      finishReason: 'stop',
      firstOutputAt: undefined,
    },
    { type: 'end', how: 'finished', finishReason: 'stop', usage },
    { ids: new CountingIds(), clock: new TickingClock() },
  ).data;

it('records the parts of the usage that the provider named', () => {
  const named = { ...countTokens(10), cacheWriteTokens: 2, reasoningTokens: 0 };

  expect(createFact(named)).toMatchObject({ cache_write_tokens: 2, reasoning_tokens: 0 });
  expect(createFact(countTokens(10))).not.toHaveProperty('reasoning_tokens');
});

describe('attack: model and tool output', () => {
  it.each([2 ** 31, 1e12, Number.MAX_SAFE_INTEGER])('a provider that reports %s tokens for a call', (tokens) => {
    const most = 2 ** 31 - 1;

    expect(createFact(countTokens(tokens))).toMatchObject({
      input_tokens: most,
      cached_tokens: most,
      output_tokens: most,
    });
  });
});
