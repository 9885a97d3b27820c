import {
  agentId,
  execution,
  overlapPolicy,
  signatureScheme,
  threadId,
  threadPolicy,
  triggerName,
  triggeredRun,
  webhookTrigger,
} from '@rondo/contract';
import { createZodDto } from 'nestjs-zod';
import { z } from 'zod';
import { metadata } from '../http/metadata';
import { pageOf, pageQuery } from '../http/paging';

const maxOverlapS = 7 * 24 * 3600;

export const webhookRun = triggeredRun.extend({
  input: triggeredRun.shape.input.describe(
    'May name `{{body.path.to.field}}`, `{{body}}`, `{{webhook_id}}`, `{{received_at}}`, `{{trigger.id}}` and `{{trigger.name}}`.',
  ),
  metadata: metadata.default({}),
});

const fields = {
  name: triggerName,
  signature: signatureScheme.describe('`standard`: the headers of Standard Webhooks. `github`: `X-Hub-Signature-256`.'),
  tolerance_s: z.number().int().min(1).max(3600).describe('How old or how far ahead a `standard` request may be.'),
  overlap: overlapPolicy,
  thread: threadPolicy,
  thread_id: threadId.nullable().describe('With `thread: "same"`: the thread of all runs. A new one when absent.'),
  run: webhookRun,
  is_paused: z.boolean(),
};

const newTrigger = z
  .strictObject({
    ...fields,
    signature: fields.signature.default('standard'),
    tolerance_s: fields.tolerance_s.default(300),
    overlap: fields.overlap.default('allow'),
    thread: fields.thread.default('new'),
    thread_id: fields.thread_id.default(null),
    is_paused: fields.is_paused.default(false),
  })
  .meta({
    examples: [
      {
        name: 'issues',
        signature: 'github',
        run: { input: 'A new issue, as data: {{body.issue.title}}\n\n{{body.issue.body}}', budget: { usd: 1 } },
      },
    ],
  });

const withSecret = webhookTrigger.extend({ secret: z.string().describe('Shown this once.') });
const receipt = z.object({
  execution_id: execution.shape.id,
  status: execution.shape.status,
  reason: execution.shape.reason,
  run_id: execution.shape.run_id,
});

export class NewWebhookTriggerDto extends createZodDto(newTrigger) {}
export class WebhookTriggerChangeDto extends createZodDto(z.strictObject(fields).partial()) {}
export class SecretRotationDto extends createZodDto(
  z.strictObject({
    overlap_s: z
      .number()
      .int()
      .min(0)
      .max(maxOverlapS)
      .default(86_400)
      .describe('How long the former secret is accepted, too.'),
  }),
) {}
export class WebhookTriggerDto extends createZodDto(webhookTrigger) {}
export class WebhookTriggerWithSecretDto extends createZodDto(withSecret) {}
export class WebhookTriggerPageDto extends createZodDto(pageOf(webhookTrigger)) {}
export class WebhookTriggerQueryDto extends createZodDto(
  pageQuery.extend({ agent_id: agentId.optional().describe('Triggers whose runs name this agent.') }),
) {}
export class WebhookReceiptDto extends createZodDto(receipt) {}
