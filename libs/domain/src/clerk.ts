import type { CompactionId, MessageId, Mint, ModelCallId } from './ids';
import type { Clerk } from './ports';

/** A clerk whose ids have these parts after their prefixes, and who tells this time. A mint keeps its word. */
export const clerkOf = (mint: Mint, now: Clerk['now']): Clerk => ({
  messageId: () => `msg_${mint()}` as MessageId,
  modelCallId: () => `mdl_${mint()}` as ModelCallId,
  compactionId: () => `cmp_${mint()}` as CompactionId,
  now,
});
