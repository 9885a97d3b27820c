import { chargePrice } from './model-price';
import { listModels, leastInputPrice, findPrice, readProviders } from './provider-settings';

const keys = { OPENAI_API_KEY: 'k', ANTHROPIC_API_KEY: 'k' };
const withPrices = (prices: object) => readProviders({ ...keys, MODEL_PRICES: JSON.stringify(prices) });
const at = (date: string) => Date.parse(date);

describe('the price of a model', () => {
  const changing = withPrices({
    'openai/gpt-5': [
      { from: '2027-03-01', input: 3, output: 9 },
      { from: '2027-01-01', input: 2, output: 9, cache_read: 1 },
    ],
  });
  const inputPrice = (date: string, model = 'openai/gpt-5') => findPrice(model, changing, at(date))?.input;

  it('is the one that is valid at the time, in whatever order they are declared', () => {
    expect(inputPrice('2026-12-31T23:59:59.999Z')).toBe(1.25);
    expect(inputPrice('2027-01-01T00:00:00Z')).toBe(2);
    expect(inputPrice('2027-02-28T23:59:59.999Z')).toBe(2);
    expect(inputPrice('2027-03-01T00:00:00Z')).toBe(3);
    expect(leastInputPrice('openai/gpt-5', changing, at('2027-02-01'))).toBe(1 / 1_000_000);
  });

  it('is that of the model for its versions, and of no other model', () => {
    expect(inputPrice('2027-02-01', 'openai/gpt-5-2025-08-07')).toBe(2);
    expect(inputPrice('2027-02-01', 'openai/gpt-5-mini')).toBe(0.25);
  });

  it('as an account is charged it is a multiple, without the traces of binary fractions', () => {
    const long_prompt = { above_tokens: 100, input_factor: 2, output_factor: 1.5 };
    expect(chargePrice({ input: 0.1, output: 0.7, cache_read: 0.01, long_prompt }, 3)).toEqual({
      ...{ input: 0.3, output: 2.1, cache_read: 0.03, long_prompt },
    });
    expect(chargePrice({ input: 0.1, output: 0 }, 1)).toEqual({ input: 0.1, output: 0 });
  });

  it('keeps what else is known of the model', () => {
    const listed = listModels(changing, at('2027-02-01')).find(({ id }) => id === 'openai/gpt-5');
    expect(listed).toMatchObject({ context_window: 400_000, price: { input: 2, output: 9, cache_read: 1 } });
  });

  it('can be declared for a model that is not known, and replaced for one that is', () => {
    const declared = withPrices({
      'openai/new': [{ input: 7, output: 8 }],
      'anthropic/claude-opus-5': [{ input: 1, output: 2 }],
      'absent/model': [{ input: 1, output: 2 }],
    });
    expect(findPrice('openai/new', declared, 0)).toEqual({ input: 7, output: 8 });
    expect(findPrice('anthropic/claude-opus-5', declared, 0)).toEqual({ input: 1, output: 2 });
    expect(findPrice('absent/model', declared, 0)).toBeUndefined();
  });

  it('is unknown before its first date, not zero', () => {
    const later = withPrices({ 'openai/new': [{ from: '2027-01-01T12:00:00+02:00', input: 7, output: 8 }] });
    expect(findPrice('openai/new', later, at('2027-01-01T09:59:59Z'))).toBeUndefined();
    expect(findPrice('openai/new', later, at('2027-01-01T10:00:00Z'))).toEqual({ input: 7, output: 8 });
  });

  it('of a version comes before that of its model', () => {
    const version = withPrices({
      'openai/gpt-5': [{ input: 1, output: 1 }],
      'openai/gpt-5-2025-08-07': [{ input: 2, output: 2 }],
    });
    expect(findPrice('openai/gpt-5-2025-08-07', version, 0)?.input).toBe(2);
    expect(findPrice('openai/gpt-5-2026-01-01', version, 0)?.input).toBe(1);
  });

  it.each([
    ['{', 'must be JSON'],
    ['{"gpt-5":[{"input":1,"output":1}]}', 'at ["gpt-5"]'],
    ['{"openai/gpt-5":[]}', 'MODEL_PRICES'],
    ['{"openai/gpt-5":[{"input":-1,"output":1}]}', 'openai/gpt-5'],
    ['{"openai/gpt-5":[{"input":1,"output":1,"from":"soon"}]}', 'openai/gpt-5'],
    ['{"openai/gpt-5":[{"input":1,"output":1},{"input":2,"output":2}]}', 'at most one price'],
  ])('is refused as %s, with the reason', (MODEL_PRICES, reason) => {
    expect(() => readProviders({ ...keys, MODEL_PRICES })).toThrow(reason);
  });
});
