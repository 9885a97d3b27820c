import { allowsModel, resolvePriceFactor, readTiers, remainingUsd } from './account-tiers';

const tiers = (more: object = {}) =>
  JSON.stringify({
    default: 'free',
    tiers: { free: { usd: 5, allowed_models: ['demo/*', 'openai/gpt-5'] }, pro: {} },
    ...more,
  });

describe('ACCOUNT_TIERS', () => {
  it('gives an account its tier, and the default one where it has none or one that is gone', () => {
    const read = readTiers(tiers());

    expect(read?.names).toEqual(['free', 'pro']);
    expect(read?.of('pro')).toEqual({ name: 'pro', period: 'month' });
    expect(read?.of(null).name).toBe('free');
    expect(read?.of('former').name).toBe('free');
  });

  it('limits nothing where it is not set', () => {
    expect(readTiers(undefined)).toBeUndefined();
    expect(readTiers('')).toBeUndefined();
  });

  it.each([
    ['{', 'JSON'],
    [tiers({ default: 'gold' }), 'must be the name of a tier'],
    [tiers({ tiers: { free: { usd: -1 } } }), 'usd'],
    [tiers({ tiers: { free: { allowed_models: ['*/x'] } } }), 'at its end'],
    [tiers({ tiers: { free: { hours: 1 } } }), 'hours'],
    [tiers({ tiers: { free: { price_factor: 0 } } }), 'price_factor'],
    [tiers({ tiers: { free: { price_factor: 100.1 } } }), 'price_factor'],
    [tiers({ tiers: { free: { price_factor: '1.5' } } }), 'price_factor'],
    [tiers({ tiers: { free: { price_factor: 1.0000001 } } }), 'at most 6 decimals'],
  ])('refuses %j and says why', (text, reason) => {
    expect(() => readTiers(text)).toThrow(reason);
  });
});

describe('the price factor of an account', () => {
  it('is its own one, or that of its tier, or 1', () => {
    const read = readTiers(tiers({ tiers: { free: { price_factor: 1.5 }, pro: {} } }));

    expect(read?.priceFactors).toEqual({ usual: 1.5, tiers: { free: 1.5, pro: 1 } });
    expect(resolvePriceFactor({ price_factor: 1.5 }, null)).toBe(1.5);
    expect(resolvePriceFactor({ price_factor: 1.5 }, 0.5)).toBe(0.5);
    expect(resolvePriceFactor(undefined, null)).toBe(1);
  });
});

describe('a tier', () => {
  it('allows the models that it names, and all if it names none', () => {
    const read = readTiers(tiers());
    const allowed = (tier: string, model: string) => read && allowsModel(read.of(tier), model);

    expect(allowed('free', 'demo/plain:output_bytes=9')).toBe(true);
    expect(allowed('free', 'openai/gpt-5')).toBe(true);
    expect(allowed('free', 'openai/gpt-5.1')).toBe(false);
    expect(allowed('pro', 'openai/gpt-5.1')).toBe(true);
  });

  it('leaves an account the rest of the period and its credit', () => {
    expect(remainingUsd({ usd: 5 }, { spentUsd: 4, creditUsd: 2 })).toBe(3);
    expect(remainingUsd({ usd: 5 }, { spentUsd: 7, creditUsd: 2 })).toBe(2);
    expect(remainingUsd({ usd: 0 }, { spentUsd: 0, creditUsd: 0 })).toBe(0);
    expect(remainingUsd({}, { spentUsd: 100, creditUsd: 0 })).toBeUndefined();
  });
});
