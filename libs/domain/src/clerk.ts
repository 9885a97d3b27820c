import { type Mint, compactionId, messageId, modelCallId } from './ids';
import type { Clerk } from './ports';

/** A clerk whose ids have these parts after their prefixes, and who tells this time. */
export const clerkOf = (mint: Mint, now: Clerk['now']): Clerk => ({
  messageId: () => messageId.parse(`msg_${mint()}`),
  modelCallId: () => modelCallId.parse(`mdl_${mint()}`),
  compactionId: () => compactionId.parse(`cmp_${mint()}`),
  now,
});
