import type { RunId, ThreadId } from '../ids';
import { type Run, noUsage } from '../run';
import type { RunSettings } from '../run-settings';

interface NewRun {
  readonly id: RunId;
  readonly threadId: ThreadId;
  readonly settings: RunSettings;
  readonly now: string;
}

/** A run as it is before anything has happened to it. */
export const freshRun = ({ id, threadId, settings, now }: NewRun): Run => ({
  id,
  thread_id: threadId,
  status: 'queued',
  iteration: 0,
  last_seq: 0,
  epoch: 0,
  finish_reason: null,
  error: null,
  waiting: null,
  usage: noUsage,
  profile: settings.profile,
  model: settings.model,
  settings,
  metadata: {},
  stop_requested_at: null,
  created_at: now,
  started_at: null,
  finished_at: null,
});
