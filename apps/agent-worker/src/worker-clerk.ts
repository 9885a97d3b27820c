import { type Clerk, compactionId, messageId, modelCallId } from '@rondo/domain';
import { newUlid } from '@rondo/platform';

/** Ids and the time of this process. */
export const workerClerk: Clerk = {
  messageId: () => messageId.parse(`msg_${newUlid()}`),
  modelCallId: () => modelCallId.parse(`mdl_${newUlid()}`),
  compactionId: () => compactionId.parse(`cmp_${newUlid()}`),
  now,
};

let lastMs = NaN;
let lastText = '';

/** It is asked for every token, often many times in a millisecond. */
function now(): string {
  const ms = Date.now();
  if (ms !== lastMs) {
    lastMs = ms;
    lastText = new Date(ms).toISOString();
  }
  return lastText;
}
