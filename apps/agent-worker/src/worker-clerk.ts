import { type Clerk, compactionId, messageId, modelCallId } from '@rondo/domain';
import { newUlid } from '@rondo/platform';

/** Ids and the time of this process. */
export const workerClerk: Clerk = {
  messageId: () => messageId.parse(`msg_${newUlid()}`),
  modelCallId: () => modelCallId.parse(`mdl_${newUlid()}`),
  compactionId: () => compactionId.parse(`cmp_${newUlid()}`),
  now: () => new Date().toISOString(),
};
