import {
  type Execution,
  type TriggeredRun,
  type WebhookTrigger,
  type WebhookTriggerId,
  threadId,
  webhookTriggerId,
  overlapPolicy,
  signatureScheme,
} from '@rondo/contract';
import { TerminalError } from '@rondo/domain';
import { z } from 'zod';
import { jsonDocument } from '../../database/checked-query';

/** A secret as it is stored. */
export interface SealedSecret {
  readonly sealed: string;
  readonly hint: string;
  readonly created_at: string;
  /** Null for the newest one. */
  readonly expires_at: string | null;
}

export const webhookRow = z.object({
  id: webhookTriggerId,
  name: z.string(),
  signature: signatureScheme,
  tolerance_s: z.number(),
  overlap: overlapPolicy,
  thread_id: threadId.nullable(),
  run: jsonDocument<TriggeredRun>(),
  is_paused: z.boolean(),
  secrets: jsonDocument<readonly SealedSecret[]>(),
  created_at: z.date(),
  updated_at: z.date(),
});
export type WebhookRow = z.infer<typeof webhookRow>;

export const webhookColumns = `
triggers.id, triggers.name, signature, tolerance_s, overlap, triggers.thread_id, triggers.run, is_paused, secrets,
triggers.created_at, triggers.updated_at`;

/** With what became of its newest webhook. */
export type StoredWebhookTrigger = WebhookTrigger & { readonly last_execution: Execution | null };

/** Not parsed: only this library writes the row, from typed values. */
export const toWebhookTrigger = (row: WebhookRow): WebhookTrigger => ({
  id: row.id,
  name: row.name,
  signature: row.signature,
  tolerance_s: row.tolerance_s,
  overlap: row.overlap,
  thread: row.thread_id === null ? 'new' : 'same',
  thread_id: row.thread_id,
  run: row.run,
  is_paused: row.is_paused,
  secrets: row.secrets.map(({ sealed: _, ...secret }) => secret),
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});

export const triggerNotFound = (id: WebhookTriggerId): TerminalError =>
  new TerminalError('trigger_not_found', `There is no trigger ${id}.`);
