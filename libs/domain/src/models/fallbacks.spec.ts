import type { Fallback } from '@rondo/contract';
import { fallbackAfter, readFallbacks } from './fallbacks';

describe('readFallbacks', () => {
  it('has chains by the model that they stand in for', () => {
    const text = '{"a/m": ["b/m", {"model": "c/m", "on": ["timeout"]}]}';

    expect(readFallbacks(text).get('a/m')).toEqual(['b/m', { model: 'c/m', on: ['timeout'] }]);
    expect(readFallbacks('').size).toBe(0);
  });

  it.each(['{', '{"a": ["b/m"]}', '{"a/m": "b/m"}', '{"a/m": [{"model": "b/m", "on": ["sadness"]}]}'])(
    'refuses %s',
    (text) => {
      expect(() => readFallbacks(text)).toThrow('MODEL_FALLBACKS cannot be understood');
    },
  );
});

describe('fallbackAfter', () => {
  const chain: Fallback[] = [{ model: 'b/m' }, { model: 'c/m', on: ['timeout', 'authentication'] }];

  it.each([
    ['a/m', 'timeout', 'b/m'],
    ['a/m', 'authentication', 'c/m'],
    ['b/m', 'timeout', 'c/m'],
    ['b/m', 'rate_limit', undefined],
    ['c/m', 'timeout', undefined],
    ['a/m', 'invalid_request', undefined],
    ['a/m', 'no such code', undefined],
  ])('after %s failed by %s is %s', (model, code, next) => {
    expect(fallbackAfter(chain, model, code)).toBe(next);
  });
});
