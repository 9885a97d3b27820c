import { z } from 'zod';
import { environment } from './environment';
import { agentId, executionId, runId, scheduleId, threadId, webhookTriggerId } from './ids';
import { finishReason, runStatus } from './run';
import { requestedModel } from './model';
import { budgetSettings, limitSettings, profileName } from './run-settings';

/** What happens to due times that passed while they could not be fired. `all`: at most the newest hundred. */
export const missedPolicy = z.enum(['skip', 'once', 'all']);
export type MissedPolicy = z.infer<typeof missedPolicy>;

/** What happens while an earlier run of the trigger is not finished: no run, a run after it, or one beside it. */
export const overlapPolicy = z.enum(['skip', 'queue', 'allow']);
export type OverlapPolicy = z.infer<typeof overlapPolicy>;

/** `new`: each run gets a thread of its own. `same`: all runs are on one thread. */
export const threadPolicy = z.enum(['new', 'same']);
export type ThreadPolicy = z.infer<typeof threadPolicy>;

/** What the runs of a trigger begin with. */
export const triggeredRun = z.strictObject({
  input: z.string().min(1).max(20_000),
  agent_id: agentId.optional(),
  profile: profileName.optional(),
  model: requestedModel.optional(),
  limits: limitSettings.partial().optional(),
  budget: budgetSettings.optional(),
  environment: environment.optional(),
  metadata: z.record(z.string(), z.string()).default({}),
});
export type TriggeredRun = z.infer<typeof triggeredRun>;

export const triggerName = z.string().trim().min(1).max(200);

export const schedule = z.object({
  id: scheduleId,
  name: triggerName,
  cron: z.string(),
  time_zone: z.string(),
  missed: missedPolicy,
  overlap: overlapPolicy,
  thread: threadPolicy,
  thread_id: threadId.nullable(),
  run: triggeredRun,
  is_paused: z.boolean(),
  /** Null while it is paused. */
  next_fire_at: z.iso.datetime().nullable(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});
export type Schedule = z.infer<typeof schedule>;

/** A due time to come of a schedule that is not paused. */
export const upcomingRun = z.object({
  due_at: z.iso.datetime(),
  schedule_id: scheduleId,
  schedule_name: triggerName,
  time_zone: z.string(),
  /** Null when the schedule names none: the thread or the account decides. */
  agent_id: agentId.nullable(),
});
export type UpcomingRun = z.infer<typeof upcomingRun>;

/** How a sender signs: by the Standard Webhooks specification, or as GitHub does. */
export const signatureScheme = z.enum(['standard', 'github']);
export type SignatureScheme = z.infer<typeof signatureScheme>;

/** A secret without the secret: its last characters, and until when it is accepted beside a newer one. */
export const secretHint = z.object({
  hint: z.string(),
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime().nullable(),
});

export const webhookTrigger = z.object({
  id: webhookTriggerId,
  name: triggerName,
  signature: signatureScheme,
  /** How old a signed request may be, or how far ahead. */
  tolerance_s: z.number().int(),
  overlap: overlapPolicy,
  thread: threadPolicy,
  thread_id: threadId.nullable(),
  run: triggeredRun,
  is_paused: z.boolean(),
  secrets: z.array(secretHint),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});
export type WebhookTrigger = z.infer<typeof webhookTrigger>;

/** `pending`: the run is still to be created. `failed`: it could not be. */
export const executionStatus = z.enum(['pending', 'started', 'skipped', 'failed']);
export type ExecutionStatus = z.infer<typeof executionStatus>;

/** Why an execution has no run, or not yet. */
export const executionReason = z.enum(['missed', 'too_many_missed', 'overlap', 'queue_full', 'retry']);
export type ExecutionReason = z.infer<typeof executionReason>;

/** One firing of a trigger, or the due times that it skipped. */
export const execution = z.object({
  id: executionId,
  status: executionStatus,
  reason: executionReason.nullable(),
  error: z.object({ code: z.string(), detail: z.string() }).nullable(),
  /** Null for one that no due time caused. */
  due_at: z.iso.datetime().nullable(),
  /** The last due time that was skipped with this one. */
  due_through: z.iso.datetime().nullable(),
  /** The sender's id of the webhook that caused it. */
  webhook_id: z.string().nullable(),
  fired_at: z.iso.datetime().nullable(),
  run_id: runId.nullable(),
  /** Null without a run, and once the run is deleted. */
  run_status: runStatus.nullable(),
  /** Why its run ended. Null as long as it has not, too. */
  run_finish_reason: finishReason.nullable().optional(),
  attempts: z.number().int(),
  next_attempt_at: z.iso.datetime().nullable(),
  created_at: z.iso.datetime(),
});
export type Execution = z.infer<typeof execution>;
