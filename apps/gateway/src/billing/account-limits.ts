import type { AccountId, Balance, RunSettings } from '@rondo/contract';
import {
  type AccountTier,
  type AccountTiers,
  type ModelProviders,
  allowsModel,
  resolvePriceFactor,
  findPrice,
  remainingUsd,
} from '@rondo/domain';
import type { AccountBalance, Balances, SpendingLimit } from '@rondo/persistence';
import { BalanceExhausted, ModelNotAllowed, refuseField } from '../problems/api-error';

interface AccountLimitsParts {
  /** Undefined: accounts are not limited. */
  readonly tiers: AccountTiers | undefined;
  readonly balances: Pick<Balances, 'of' | 'toTerms'>;
  readonly providers: ModelProviders;
}

/** What a new run of an account has to keep to. */
export interface Admission {
  /** Undefined without tiers. */
  readonly tier?: string;
  readonly maxActiveRuns?: number | undefined;
  /** With those of the fallbacks that the tier has. */
  readonly settings: RunSettings;
}

/** Which models an account may use, and what it pays for them. */
export interface ModelTerms {
  readonly allows: (model: string) => boolean;
  readonly priceFactor: number;
}

/** What is read of the balance where there are no tiers. */
const unlimited: SpendingLimit = { period: 'month' };

/** What accounts may use, by their tiers. Reads the balance for each run that is to be created, and nothing without tiers. */
export class AccountLimits {
  constructor(private readonly parts: AccountLimitsParts) {}

  get tiers(): AccountTiers | undefined {
    return this.parts.tiers;
  }

  readonly toLimit = (tier: string | null): SpendingLimit => this.parts.tiers?.of(tier) ?? unlimited;

  /** Rejects with `model_not_allowed`, `balance_exhausted` or InvalidRequest. */
  async admit(account: AccountId, settings: RunSettings): Promise<Admission> {
    const { tiers, balances } = this.parts;
    if (!tiers) return { settings };
    const { model, context } = settings;
    const balance = await balances.of(account, this.toLimit);
    const tier = tiers.of(balance.tier);
    const models = [model, ...(context.summary_model === undefined ? [] : [context.summary_model])];
    for (const name of models) if (!allowsModel(tier, name)) throw new ModelNotAllowed(name, tier);
    if (tier.usd !== undefined) {
      this.checkPrices(models, tier);
      assertFunds(tier, balance);
    }
    return { tier: tier.name, maxActiveRuns: tier.max_active_runs, settings: withAllowedFallbacks(settings, tier) };
  }

  /** Undefined without tiers, and nothing is read. */
  async readTier(account: AccountId): Promise<AccountTier | undefined> {
    const { tiers, balances } = this.parts;
    return tiers?.of((await balances.toTerms(account)).tier);
  }

  /** Without tiers, any model at its cost, and nothing is read. */
  async toTerms(account: AccountId): Promise<ModelTerms> {
    const { tiers, balances } = this.parts;
    if (!tiers) return { allows: () => true, priceFactor: 1 };
    const terms = await balances.toTerms(account);
    const tier = tiers.of(terms.tier);
    return { allows: (model) => allowsModel(tier, model), priceFactor: resolvePriceFactor(tier, terms.priceFactor) };
  }

  async toBalance(account: AccountId): Promise<Balance> {
    const balance = await this.parts.balances.of(account, this.toLimit);
    return showBalance(balance, this.parts.tiers?.of(balance.tier), this.toLimit(balance.tier));
  }

  /** Without a price, the limit could not be enforced. */
  private checkPrices(models: readonly string[], { name }: AccountTier): void {
    const unpriced = models.find((model) => findPrice(model, this.parts.providers, Date.now()) === undefined);
    if (unpriced === undefined) return;
    const message = `the price of ${unpriced} is not known, so the limit of the tier ${name} could not be enforced: declare it in MODEL_PRICES`;
    throw refuseField('model', message);
  }
}

function withAllowedFallbacks(settings: RunSettings, tier: AccountTier): RunSettings {
  const { fallbacks } = settings;
  return fallbacks ? { ...settings, fallbacks: fallbacks.filter(({ model }) => allowsModel(tier, model)) } : settings;
}

function showBalance(balance: AccountBalance, tier: AccountTier | undefined, { period }: SpendingLimit): Balance {
  const remaining = tier && remainingUsd(tier, balance);
  return {
    tier: tier?.name ?? null,
    allowed_models: tier?.allowed_models ?? null,
    max_active_runs: tier?.max_active_runs ?? null,
    period,
    period_start: balance.periodStart.toISOString(),
    period_end: balance.periodEnd.toISOString(),
    allowance_usd: tier?.usd ?? null,
    spent_usd: balance.spentUsd,
    reserved_usd: balance.reservedUsd,
    credit_usd: balance.creditUsd,
    available_usd: remaining === undefined ? null : remaining - balance.reservedUsd,
    price_factor: resolvePriceFactor(tier, balance.priceFactor),
  };
}

/** What is reserved does not count: most of it is given back. */
function assertFunds(tier: AccountTier, balance: AccountBalance): void {
  const remaining = remainingUsd(tier, balance);
  if (remaining === undefined || remaining > 0) return;
  const { name, usd = 0, period } = tier;
  throw new BalanceExhausted(
    `The tier ${name} allows ${usd} USD per ${period}, and this account has spent ${balance.spentUsd.toFixed(4)} USD and has no ` +
      `credit left. The next ${period} begins at ${balance.periodEnd.toISOString()}.`,
    showBalance(balance, tier, tier),
  );
}
