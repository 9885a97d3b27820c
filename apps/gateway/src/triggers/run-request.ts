import type { Schedule, WebhookTrigger } from '@rondo/contract';
import { renderTemplate } from '@rondo/domain';
import type { RunRequest } from '../runs/run-service';

/** The names with which the paths of a schedule's input begin. */
export const scheduleRoots = ['due_at', 'schedule'] as const;

/** The same of a webhook trigger. */
export const webhookRoots = ['body', 'webhook_id', 'received_at', 'trigger'] as const;

type Trigger = Pick<Schedule | WebhookTrigger, 'thread_id' | 'overlap' | 'run'>;

/** The request of a run that a schedule starts. */
export function runOfSchedule(schedule: Schedule, dueAt: Date): RunRequest {
  const { id, name, run } = schedule;
  return runOfTrigger(schedule, renderTemplate(run.input, { due_at: dueAt.toISOString(), schedule: { id, name } }));
}

interface WebhookContent {
  readonly webhookId: string;
  readonly body: unknown;
  readonly receivedAt: Date;
}

/** The input of a run that a webhook starts. */
export function inputOfWebhook(
  { id, name, run }: WebhookTrigger,
  { webhookId, body, receivedAt }: WebhookContent,
): string {
  const data = { body, webhook_id: webhookId, received_at: receivedAt.toISOString(), trigger: { id, name } };
  return renderTemplate(run.input, data);
}

/** With this input, which is not empty for any model's sake. */
export function runOfTrigger({ thread_id, overlap, run }: Trigger, input: string): RunRequest {
  const { input: _, ...request } = run;
  return {
    ...request,
    ...(thread_id !== null && { thread_id }),
    input: [{ type: 'text', text: input.trim() === '' ? '(no input)' : input }],
    on_active_run: overlap === 'queue' ? 'queue' : 'reject',
  };
}
