import { z } from 'zod';
import { agentId, modelCallId, runId, threadId } from './ids';

/** What usage is summed up by. */
export const usageGroup = z.enum(['day', 'model', 'agent', 'user', 'key']);
export type UsageGroup = z.infer<typeof usageGroup>;

/** One model call in the ledger of an account. */
export const usageEntry = z.object({
  id: modelCallId,
  run_id: runId,
  thread_id: threadId.nullable().describe('Null if the run was deleted before threads were recorded.'),
  agent_id: agentId.nullable().describe('The stored agent of the run.'),
  iteration: z.number().int().nonnegative(),
  model: z.string(),
  finish_reason: z.string(),
  input_tokens: z.number().int().nonnegative(),
  cached_tokens: z.number().int().nonnegative(),
  output_tokens: z.number().int().nonnegative(),
  cost_usd: z.number().nonnegative().nullable().describe('At the provider. Null: the price was not known.'),
  estimated: z.boolean().describe('The provider did not report all tokens.'),
  duration_ms: z.number().nonnegative(),
  created_at: z.iso.datetime(),
  price_factor: z
    .number()
    .positive()
    .describe('The multiple of the cost that was charged. It stays as it was at the call.'),
  charged_usd: z
    .number()
    .nonnegative()
    .nullable()
    .describe("`cost_usd` times `price_factor`: what the account's balance paid. Null: the price was not known."),
});
export type UsageEntry = z.infer<typeof usageEntry>;
