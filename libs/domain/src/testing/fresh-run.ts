import { type Run, type RunId, type RunSettings, type ThreadId, newRun } from '@rondo/contract';

interface FreshRun {
  readonly id: RunId;
  readonly threadId: ThreadId;
  readonly settings: RunSettings;
  readonly now: string;
}

/** A run without any events. */
export const freshRun = ({ id, threadId, settings, now }: FreshRun): Run =>
  newRun({ id, thread_id: threadId, last_seq: 0, settings, metadata: {}, created_at: now });
