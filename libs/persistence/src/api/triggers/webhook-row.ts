import {
  type OverlapPolicy,
  type SignatureScheme,
  type TriggeredRun,
  type WebhookTrigger,
  type WebhookTriggerId,
  threadId,
  webhookTriggerId,
} from '@rondo/contract';
import { TerminalError } from '@rondo/domain';

/** A secret as it is stored. */
export interface SealedSecret {
  readonly sealed: string;
  readonly hint: string;
  readonly created_at: string;
  /** Null for the newest one. */
  readonly expires_at: string | null;
}

export interface WebhookRow {
  readonly id: string;
  readonly name: string;
  readonly signature: SignatureScheme;
  readonly tolerance_s: number;
  readonly overlap: OverlapPolicy;
  readonly thread_id: string | null;
  readonly run: TriggeredRun;
  readonly is_paused: boolean;
  readonly secrets: readonly SealedSecret[];
  readonly created_at: Date;
  readonly updated_at: Date;
}

export const webhookColumns = `
triggers.id, triggers.name, signature, tolerance_s, overlap, triggers.thread_id, triggers.run, is_paused, secrets,
triggers.created_at, triggers.updated_at`;

/** Not parsed: only this library writes the row, from typed values. */
export const webhookTriggerOf = (row: WebhookRow): WebhookTrigger => ({
  id: webhookTriggerId.parse(row.id),
  name: row.name,
  signature: row.signature,
  tolerance_s: row.tolerance_s,
  overlap: row.overlap,
  thread: row.thread_id === null ? 'new' : 'same',
  thread_id: row.thread_id === null ? null : threadId.parse(row.thread_id),
  run: row.run,
  is_paused: row.is_paused,
  secrets: row.secrets.map(({ sealed: _, ...secret }) => secret),
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});

export const triggerNotFound = (id: WebhookTriggerId): TerminalError =>
  new TerminalError('trigger_not_found', `There is no trigger ${id}.`);
