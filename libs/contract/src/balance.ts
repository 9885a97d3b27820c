import { z } from 'zod';
import { creditId } from './ids';

const usd = z.number();

const factorDecimals = 6;

/** More than 0, at most 100. Stored with its decimals. */
export const priceFactor = z
  .number()
  .positive()
  .max(100)
  .refine(
    (factor) => Number(factor.toFixed(factorDecimals)) === factor,
    `must have at most ${factorDecimals} decimals`,
  );

/** What an account may have of things that stay, or that it has at a time. */
export const quotaName = z.enum([
  'api_keys',
  'threads',
  'message_bytes',
  'image_bytes',
  'file_bytes',
  'workspaces',
  'active_runs',
  'triggers',
  'webhook_endpoints',
  'waiting_call_bytes',
  'run_minutes',
]);
export type QuotaName = z.infer<typeof quotaName>;

export const quotas = z.record(z.string(), z.object({ used: z.number(), limit: z.number() }));
export type Quotas = z.infer<typeof quotas>;

/** What an account may use, and what it has used of it. */
export const balance = z.object({
  tier: z.string().nullable().describe('Null: this deployment has no tiers, and limits nothing.'),
  allowed_models: z
    .array(z.string())
    .nullable()
    .describe('`provider/model`, or a beginning of it with `*` at its end. Null: any model.'),
  max_active_runs: z.number().int().nullable().describe('Null: as many as the deployment allows.'),
  period: z.enum(['day', 'month']),
  period_start: z.iso.datetime().describe('0:00 UTC.'),
  period_end: z.iso.datetime().describe('When `spent_usd` begins anew.'),
  allowance_usd: usd.nullable().describe('What the tier allows in a period. Null: any amount.'),
  spent_usd: usd.describe('Charged in this period, for calls with a known price.'),
  reserved_usd: usd.describe('For model calls that are under way.'),
  credit_usd: usd.describe('Used after the allowance. Below zero, it is taken from the next period.'),
  available_usd: usd.nullable().describe('What a further model call may cost now. Null: any amount.'),
  price_factor: z
    .number()
    .positive()
    .describe('What is charged for a model call, as a multiple of its cost. All other amounts here are charges.'),
  quotas: quotas
    .optional()
    .describe(
      `What the account has and may have of each: ${[...quotaName.options, 'rewind_bytes'].map((name) => `\`${name}\``).join(', ')}.`,
    ),
});
export type Balance = z.infer<typeof balance>;

/** Credit that was given to an account, or taken back. */
export const credit = z.object({
  id: creditId,
  usd,
  reason: z.string().nullable(),
  created_at: z.iso.datetime(),
});
export type Credit = z.infer<typeof credit>;
