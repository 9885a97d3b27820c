import type { CompactionId, IdGenerator, MessageId, ModelCallId } from '@rondo/contract';
import type { IdsAndClock } from '../ports';

/** A clerk whose ids have these parts after their prefixes, and who tells this time. A mint keeps its word. */
export const idsAndClock = (mint: IdGenerator, now: IdsAndClock['now']): IdsAndClock => ({
  messageId: () => `msg_${mint()}` as MessageId,
  modelCallId: () => `mdl_${mint()}` as ModelCallId,
  compactionId: () => `cmp_${mint()}` as CompactionId,
  now,
});
