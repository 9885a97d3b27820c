import { CountingIds, TickingClock } from '../testing';
import { usageFactFor } from './usage-fact';

const createUsage = (tokens: number) => {
  const usage = { input_tokens: tokens, cached_tokens: tokens, output_tokens: tokens, cost_usd: 1, estimated: false };
  return usageFactFor(
    {
      call: { model: 'demo/coder', iteration: 1, beganAt: '2026-01-01T00:00:00.000Z' },
      finishReason: 'stop',
      firstOutputAt: undefined,
    },
    { type: 'end', how: 'finished', finishReason: 'stop', usage },
    { ids: new CountingIds(), clock: new TickingClock() },
  ).data;
};

describe('attack: model and tool output', () => {
  it.each([2 ** 31, 1e12, Number.MAX_SAFE_INTEGER])('a provider that reports %s tokens for a call', (tokens) => {
    const most = 2 ** 31 - 1;

    expect(createUsage(tokens)).toMatchObject({ input_tokens: most, cached_tokens: most, output_tokens: most });
  });
});
