import * as contract from '@rondo/contract';
import * as schedules from '../triggers/schedule.dto';
import * as webhooks from '../triggers/webhook-trigger.dto';

/** What starts runs by itself, as `named-schemas.ts` has it. */
export const triggerSchemas = {
  shared: {
    MissedPolicy: contract.missedPolicy,
    OverlapPolicy: contract.overlapPolicy,
    ThreadPolicy: contract.threadPolicy,
    SignatureScheme: contract.signatureScheme,
  },
  responses: {
    Schedule: schedules.ScheduleDto.schema,
    SchedulePage: schedules.SchedulePageDto.schema,
    UpcomingRun: contract.upcomingRun,
    UpcomingRuns: schedules.UpcomingRunsDto.schema,
    DueTimes: schedules.DueTimesDto.schema,
    Execution: contract.execution,
    ExecutionPage: schedules.ExecutionPageDto.schema,
    WebhookTrigger: webhooks.WebhookTriggerDto.schema,
    WebhookTriggerWithSecret: webhooks.WebhookTriggerWithSecretDto.schema,
    WebhookTriggerPage: webhooks.WebhookTriggerPageDto.schema,
    WebhookReceipt: webhooks.WebhookReceiptDto.schema,
    SecretHint: contract.secretHint,
    TriggeredRun: contract.triggeredRun,
  },
  requests: {
    NewSchedule: schedules.NewScheduleDto.schema,
    ScheduleChange: schedules.ScheduleChangeDto.schema,
    NewWebhookTrigger: webhooks.NewWebhookTriggerDto.schema,
    WebhookTriggerChange: webhooks.WebhookTriggerChangeDto.schema,
    SecretRotation: webhooks.SecretRotationDto.schema,
    WebhookRun: webhooks.webhookRun,
    NewTriggeredRun: schedules.newTriggeredRun,
  },
};
