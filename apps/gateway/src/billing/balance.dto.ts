import { type Balance, balance, credit } from '@rondo/contract';
import { priceFactor } from '@rondo/domain';
import { createZodDto } from 'nestjs-zod';
import { z } from 'zod';

export const balanceExample: Balance = {
  tier: 'free',
  allowed_models: ['openai/gpt-5-mini'],
  max_active_runs: 2,
  period: 'month',
  period_start: '2026-11-01T00:00:00.000Z',
  period_end: '2026-12-01T00:00:00.000Z',
  allowance_usd: 5,
  spent_usd: 1.25,
  reserved_usd: 0.05,
  credit_usd: 10,
  available_usd: 13.7,
  price_factor: 1.5,
  quotas: { api_keys: { used: 3, limit: 100 }, threads: { used: 1_204, limit: 100_000 } },
};

export const accountBalance = balance.meta({ examples: [balanceExample] });

export const givenCredit = credit.meta({
  examples: [
    {
      id: 'crd_01JMX2Q8Z4T5V6W7X8Y9Z0A1B2',
      usd: 10,
      reason: 'invoice 2026-118',
      created_at: '2026-11-25T09:00:00.000Z',
    },
  ],
});

const mostUsd = 1_000_000;

const newCredit = z
  .strictObject({
    usd: z
      .number()
      .min(-mostUsd)
      .max(mostUsd)
      .refine((amount) => amount !== 0, 'must not be 0')
      .describe('Below zero, credit is taken back.'),
    reason: z.string().trim().min(1).max(500).optional(),
  })
  .meta({ examples: [{ usd: 10, reason: 'invoice 2026-118' }] });

const accountTier = z
  .strictObject({
    tier: z.string().max(50).describe('The name of a tier of ACCOUNT_TIERS.'),
    price_factor: priceFactor
      .optional()
      .describe('Of this account, instead of the tier’s: what is charged for a model call, as a multiple of its cost.'),
  })
  .meta({ examples: [{ tier: 'pro' }] });

export class BalanceDto extends createZodDto(accountBalance) {}
export class CreditDto extends createZodDto(givenCredit) {}
export class NewCreditDto extends createZodDto(newCredit) {}
export class AccountTierDto extends createZodDto(accountTier) {}
