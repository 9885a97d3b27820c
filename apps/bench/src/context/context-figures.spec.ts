import type { Fact } from '@rondo/test-deployment';
import { contextFigures } from './context-figures';

const fact = (type: string, data: Fact['data'] = {}): Fact => ({
  id: 'evt_1',
  seq: 1,
  iteration: 1,
  epoch: 1,
  at: '2026-01-01T00:00:00.000Z',
  type,
  data,
});

const bill = (input_tokens: number, cached_tokens: number, finish_reason = 'tool_calls'): Fact =>
  fact('usage.recorded', { input_tokens, cached_tokens, finish_reason });

describe('contextFigures', () => {
  it('counts the cached tokens of requests whose prefix was sent before, summaries left out', () => {
    const figures = contextFigures([
      bill(100, 0),
      bill(200, 100),
      bill(5_000, 0, 'summary'),
      fact('context.compacted', { method: 'summary' }),
      bill(100, 0),
      bill(100, 80),
    ]);

    expect(figures.cachedShareBetweenCompactions).toBeCloseTo(180 / 300);
    expect(figures.cachedShare).toBeCloseTo(180 / 500);
    expect(figures).toMatchObject({ compactions: 1, withoutSummary: 0, largestRequestTokens: 200 });
  });

  it('tells requests that were too long, and what was shortened for them', () => {
    const figures = contextFigures([
      bill(900, 0, 'overflow'),
      fact('context.compacted', { method: 'compression' }),
      bill(400, 0),
      fact('iteration.completed'),
    ]);

    expect(figures).toMatchObject({ overflows: 1, compactions: 1, withoutSummary: 1, iterations: 1 });
  });
});
