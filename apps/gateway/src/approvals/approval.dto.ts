import { approval, approvalDecision, run, waiting } from '@rondo/contract';
import type { InboxItem } from '@rondo/persistence';
import { createZodDto } from 'nestjs-zod';
import { z } from 'zod';
import { pageOf, pageQuery } from '../http/paging';

/** The fields of a decision, over REST and over sockets. */
export const decisionFields = z.strictObject({
  decision: approvalDecision.describe(
    '`approve`: the call is sent as it is. `edit`: it is sent with `arguments`. `deny`: the model is told that it was denied.',
  ),
  arguments_hash: z.string().max(100).describe('Of the arguments that were decided about, as the approval has it.'),
  arguments: z.record(z.string(), z.unknown()).optional().describe('With `edit`: all arguments of the call.'),
  reason: z
    .string()
    .max(2_000)
    .optional()
    .describe('Kept with the decision. The model is told it if the call is denied.'),
});

type Fields = z.infer<typeof decisionFields>;
export const isConsistent = ({ decision, arguments: edited }: Fields): boolean =>
  (decision === 'edit') === (edited !== undefined);
export const inconsistent = { path: ['arguments'], message: 'needed with the decision edit, and with no other' };

const inboxItem = z.object({
  id: run.shape.id.describe('The id of the run.'),
  thread_id: run.shape.thread_id,
  status: run.shape.status,
  waiting,
}) satisfies z.ZodType<InboxItem>;

export class ApprovalDecisionDto extends createZodDto(decisionFields.refine(isConsistent, inconsistent)) {}
export class ApprovalDto extends createZodDto(approval) {}
export class ApprovalPageDto extends createZodDto(pageOf(approval)) {}
export class InboxPageDto extends createZodDto(pageOf(inboxItem)) {}
export class ApprovalQueryDto extends createZodDto(pageQuery) {}
