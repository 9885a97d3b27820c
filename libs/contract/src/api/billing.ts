import { z } from 'zod';
import { type Balance, balance, credit, priceFactor } from '../balance';
import { endUser } from '../end-user';
import { agentId, runId, threadId } from '../ids';
import { usageEntry, usageGroup } from '../usage-entry';
import { exampleIds as ids } from './example-ids';
import { createPage, pageQuery } from './paging';
import { type ApiSchemas, defineRoutes } from './route';

export const exampleBalance: Balance = {
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

const accountBalance = balance.meta({ examples: [exampleBalance] });

const givenCredit = credit.meta({
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

const moment = z.union([z.iso.date(), z.iso.datetime({ offset: true })]);
const mostRows = 10_000;

const filter = {
  from: moment
    .optional()
    .describe(
      'A day (0:00 UTC) or a moment. Default: 30 days before `to`, or the beginning of the run or thread that is named.',
    ),
  to: moment.optional().describe('Before this day or moment. Default: now.'),
  agent_id: agentId.optional(),
  run_id: runId.optional(),
  thread_id: threadId.optional(),
  user: endUser.optional().describe('Of the runs of this person.'),
  model: z.string().max(300).optional(),
};

const groupBy = z
  .string()
  .transform((text) => text.split(','))
  .pipe(z.array(usageGroup))
  .describe('`day` (UTC), `model`, `agent`, `user`, `key`, or several of them, separated by commas.');

export const usageQuery = z.strictObject({
  ...filter,
  group_by: groupBy.default(['day']),
  limit: z.coerce.number().int().min(1).max(mostRows).default(1_000),
});

export const usageEntryQuery = pageQuery.extend(filter);

export const usageSums = z.object({
  calls: z.number().int(),
  input_tokens: z.number().int(),
  cached_tokens: z.number().int().describe('Those of the input tokens that were read from a cache.'),
  output_tokens: z.number().int(),
  cost_usd: z
    .number()
    .nullable()
    .describe('At the providers, of the calls with a known price; null if there are none.'),
  unpriced_calls: z.number().int().describe('Calls whose price was not known. Their cost is in no sum.'),
  estimated_calls: z.number().int().describe('Calls of which the provider did not report all tokens.'),
  charged_usd: z
    .number()
    .nullable()
    .describe('What the balance paid for the calls of `cost_usd`, each by its price factor.'),
});

const usageRow = usageSums.extend({
  day: z.iso.date().exactOptional(),
  model: z.string().exactOptional(),
  agent_id: agentId.nullable().exactOptional(),
  user: endUser.nullable().exactOptional().describe('Null: the run has none, or was deleted.'),
  key_id: z
    .string()
    .nullable()
    .exactOptional()
    .describe('The key, or the user of an outside issuer, that started the run. Null: neither did, or it was deleted.'),
});

const usageReport = z.object({
  data: z.array(usageRow).readonly(),
  total: usageSums.describe('Of all rows, also of those beyond `limit`.'),
  has_more: z.boolean().describe('There are more rows than `limit`.'),
});

const usageEntryPage = createPage(usageEntry);

const exampleSums = {
  calls: 42,
  input_tokens: 201_600,
  cached_tokens: 129_000,
  output_tokens: 16_400,
  cost_usd: 0.2646,
  unpriced_calls: 0,
  estimated_calls: 0,
  charged_usd: 0.3969,
};

const exampleEntry = {
  id: ids.modelCall,
  run_id: ids.run,
  thread_id: ids.thread,
  agent_id: null,
  iteration: 1,
  model: 'openai/gpt-5',
  finish_reason: 'tool_calls',
  input_tokens: 2310,
  cached_tokens: 1536,
  output_tokens: 205,
  cost_usd: 0.0032,
  estimated: false,
  duration_ms: 2840,
  created_at: '2026-11-25T09:00:03.000Z',
  price_factor: 1.5,
  charged_usd: 0.0048,
};

const toCsvLine = (cells: readonly unknown[]): string => `${cells.join(',')}\r\n`;

export const billing = defineRoutes('usage', {
  getBalance: {
    method: 'GET',
    path: '/v1/balance',
    summary: 'Get what the account may use and has used',
    description: 'Its tier, what it has spent in the current period, what is reserved for model calls, and its credit.',
    answers: { 200: { body: accountBalance } },
  },
  getAccountBalance: {
    method: 'GET',
    path: '/v1/admin/accounts/{account_id}/balance',
    summary: 'Get the balance of an account; for the operator of this deployment',
    role: 'operator',
    answers: { 200: { body: accountBalance } },
  },
  setAccountTier: {
    method: 'PUT',
    path: '/v1/admin/accounts/{account_id}/tier',
    summary: 'Set the tier of an account; for the operator of this deployment',
    description:
      'It applies to new runs at once, and to model calls of active runs within seconds. Without `price_factor`, the account ' +
      'has that of the tier.',
    role: 'operator',
    audit: 'account.tier',
    body: accountTier,
    answers: { 200: { body: accountBalance } },
  },
  giveCredit: {
    method: 'POST',
    path: '/v1/admin/accounts/{account_id}/credits',
    summary: 'Give an account credit, or take it back; for the operator of this deployment',
    description:
      'Credit is used when the allowance of the period is. With an `Idempotency-Key`, a repeated request gives it once.',
    role: 'operator',
    audit: 'account.credit',
    body: newCredit,
    answers: { 201: { body: givenCredit } },
  },
  getUsage: {
    method: 'GET',
    path: '/v1/usage',
    summary: 'Sum up what model calls have used',
    description:
      'From the ledger, which has one entry for each model call, and keeps those of deleted threads. With ' +
      '`Accept: text/csv` the rows come as CSV, without the total; `X-Has-More: true` says that there are more than `limit`.',
    query: usageQuery,
    answers: {
      200: {
        body: usageReport,
        isParsed: false,
        csv: toCsvLine(['day', ...Object.keys(exampleSums)]) + toCsvLine(['2026-11-25', ...Object.values(exampleSums)]),
        headers: ['X-Has-More'],
      },
    },
  },
  listUsageEntries: {
    method: 'GET',
    path: '/v1/usage/entries',
    summary: 'List the model calls of the ledger, newest first',
    description: 'With `Accept: text/csv` the page comes as CSV; `X-Next-Cursor` is the `after` of the next one.',
    query: usageEntryQuery,
    answers: {
      200: {
        body: usageEntryPage,
        isParsed: false,
        csv: toCsvLine(Object.keys(exampleEntry)) + toCsvLine(Object.values(exampleEntry)),
        headers: ['X-Next-Cursor'],
      },
    },
  },
});

export const billingSchemas: ApiSchemas = {
  requests: { AccountTier: accountTier, NewCredit: newCredit },
  answers: {
    Balance: accountBalance,
    Credit: givenCredit,
    UsageEntry: usageEntry,
    UsageEntryPage: usageEntryPage,
    UsageSums: usageSums,
    UsageReport: usageReport,
  },
  examples: {
    UsageReport: {
      data: [{ ...exampleSums, day: '2026-11-25', model: 'openai/gpt-5' }],
      total: exampleSums,
      has_more: false,
    },
    UsageEntry: exampleEntry,
  },
};
