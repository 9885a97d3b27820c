import { priceFactor, jsonText } from '@rondo/contract';
import { z } from 'zod';

/** `provider/model`, or a beginning of it with `*` at its end. */
const modelPattern = z
  .string()
  .max(300)
  .regex(/^[^*]*\*?$/, 'may have one "*", at its end');

/** In seconds. A longer one than a day could not be told from the times of an expression's days. */
export const leastInterval = z.number().int().min(1).max(86_400);

const quota = z.exactOptional(z.number().int().nonnegative());

const accountTier = z.strictObject({
  allowed_models: z.array(modelPattern).min(1).max(100).optional(),
  max_active_runs: z.number().int().positive().optional(),
  /** Between two due times of a schedule. */
  schedule_least_interval_s: leastInterval.optional(),
  /** Instead of those of the deployment. */
  quotas: z
    .strictObject({
      api_keys: quota,
      threads: quota,
      message_bytes: quota,
      image_bytes: quota,
      file_bytes: quota,
      workspaces: quota,
      waiting_call_bytes: quota,
      run_minutes: quota,
    })
    .optional(),
  /** What an account may spend in a period before it uses its credit. */
  usd: z.number().nonnegative().optional(),
  period: z.enum(['day', 'month']).default('month'),
  /** What a model call costs the account, as a multiple of what it costs at the provider. 1 without it. */
  price_factor: priceFactor.optional(),
});

const tierName = z.string().regex(/^[a-z0-9][a-z0-9_-]{0,49}$/, 'must be lower-case letters, digits, "-" and "_"');

export const declaredTiers = jsonText
  .pipe(z.strictObject({ default: tierName, tiers: z.record(tierName, accountTier) }))
  .refine(({ default: name, tiers }) => Object.hasOwn(tiers, name), {
    path: ['default'],
    message: 'must be the name of a tier',
  });

export interface AccountTier extends z.infer<typeof accountTier> {
  readonly name: string;
}

export type TierPeriod = AccountTier['period'];

/** What model calls cost accounts, as multiples of what they cost at the provider. */
export interface PriceFactors {
  /** The factor of accounts whose tier is not in `tiers`. */
  readonly usual: number;
  readonly tiers: Readonly<Record<string, number>>;
}

/** What accounts may use, by the tier that they have. */
export class AccountTiers {
  private readonly tiers: ReadonlyMap<string, AccountTier>;

  constructor(
    tiers: readonly AccountTier[],
    private readonly byDefault: AccountTier,
  ) {
    this.tiers = new Map(tiers.map((tier) => [tier.name, tier]));
  }

  get names(): readonly string[] {
    return [...this.tiers.keys()];
  }

  get priceFactors(): PriceFactors {
    const factors = [...this.tiers.values()].map((tier) => [tier.name, resolvePriceFactor(tier, null)] as const);
    return { usual: resolvePriceFactor(this.byDefault, null), tiers: Object.fromEntries(factors) };
  }

  /** The default tier for an account without one, and for one whose tier is not configured any more. */
  of(name: string | null): AccountTier {
    return (name === null ? undefined : this.tiers.get(name)) ?? this.byDefault;
  }
}

/** ACCOUNT_TIERS. Undefined without it: nothing is limited. Throws if the text is invalid. */
export function readTiers(text: string | undefined): AccountTiers | undefined {
  if (!text) return undefined;
  const parsed = declaredTiers.safeParse(text);
  if (!parsed.success) throw new Error(`ACCOUNT_TIERS cannot be understood:\n${z.prettifyError(parsed.error)}`);
  const tiers = Object.entries(parsed.data.tiers).map(([name, tier]) => ({ name, ...tier }));
  const byDefault = tiers.find(({ name }) => name === parsed.data.default);
  return byDefault && new AccountTiers(tiers, byDefault);
}

/** That of an account: its own one, or else its tier's. */
export const resolvePriceFactor = (tier: Pick<AccountTier, 'price_factor'> | undefined, own: number | null): number =>
  own ?? tier?.price_factor ?? 1;

export const allowsModel = ({ allowed_models: allowed }: AccountTier, model: string): boolean =>
  allowed === undefined || allowed.some((pattern) => fits(pattern, model));

const fits = (pattern: string, model: string): boolean =>
  pattern.endsWith('*') ? model.startsWith(pattern.slice(0, -1)) : model === pattern;

/** Of an account in its current period. `reservedUsd` is for model calls that are under way. */
export interface AccountFunds {
  readonly spentUsd: number;
  readonly reservedUsd: number;
  readonly creditUsd: number;
}

/** What an account has left, without what is reserved. Undefined: its tier does not limit that. */
export const remainingUsd = (
  { usd }: Pick<AccountTier, 'usd'>,
  { spentUsd, creditUsd }: Omit<AccountFunds, 'reservedUsd'>,
): number | undefined => (usd === undefined ? undefined : Math.max(0, usd - spentUsd) + creditUsd);
