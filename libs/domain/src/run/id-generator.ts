import type { CompactionId, MessageId, ModelCallId, NewId } from '@rondo/contract';
import type { IdGenerator } from '../ports';

/** Puts the prefix of its kind before each new id; `newId` gives letters and digits only, so nothing is parsed. */
export const idGenerator = (newId: NewId): IdGenerator => ({
  messageId: () => `msg_${newId()}` as MessageId,
  modelCallId: () => `mdl_${newId()}` as ModelCallId,
  compactionId: () => `cmp_${newId()}` as CompactionId,
});
