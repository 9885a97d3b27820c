import { paceAdvice } from './request-pace';

const openai = (limit: number, left: number, reset: string) => ({
  'x-ratelimit-limit-requests': String(limit),
  'x-ratelimit-remaining-requests': String(left),
  'x-ratelimit-reset-requests': reset,
});

describe('the pace that headers advise', () => {
  it('is the limit per minute once little of it is left', () => {
    expect(paceAdvice(openai(200, 4, '30s'))).toEqual({ intervalMs: 30_000 / 196, forMs: 30_000 });
    expect(paceAdvice(openai(200, 4, '59.5s'))).toEqual({ intervalMs: 300, forMs: 59_500 });
  });

  it('is the rate of restoration for a limit per day', () => {
    expect(paceAdvice(openai(1_000, 100, '1h30m0s'))).toEqual({ intervalMs: 6_000, forMs: 5_400_000 });
  });

  it.each([1, 1_000])('reads a time since 1970 in seconds or milliseconds: %i', (factor) => {
    const at = Math.floor((Date.now() + 30_000) / 1_000) * factor;
    const advice = paceAdvice(openai(200, 4, String(at)));
    expect(advice?.forMs).toBeGreaterThan(25_000);
    expect(advice?.forMs).toBeLessThanOrEqual(30_000);
  });

  it('is none for a limit of which less than one request in a minute is restored', () => {
    expect(paceAdvice(openai(20, 1, '12h0m0s'))).toBeUndefined();
  });

  it('reads the headers of Anthropic', () => {
    const reset = new Date(Date.now() + 30_000).toISOString();
    const advice = paceAdvice({
      'anthropic-ratelimit-requests-limit': '50',
      'anthropic-ratelimit-requests-remaining': '1',
      'anthropic-ratelimit-requests-reset': reset,
    });

    expect(advice?.forMs).toBeGreaterThan(25_000);
    expect(advice?.intervalMs).toBeLessThanOrEqual(1_200);
  });

  it.each([{}, openai(200, 150, '1s'), openai(200, -1, '1s'), openai(200, 0, 'soon'), openai(200, 0, '0s')])(
    'is none where much is left or the headers say nothing: %j',
    (headers) => {
      expect(paceAdvice(headers)).toBeUndefined();
    },
  );
});
