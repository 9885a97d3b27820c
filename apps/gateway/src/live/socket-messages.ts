import { approvalId, runId } from '@rondo/contract';
import {
  decisionFields,
  inconsistentDecision,
  isConsistentDecision,
  budgetRaiseFields,
  greatestSeq,
  hasAmount,
  newRunFields,
  noAmount,
  refuseImpossibleRun,
  runAnswer,
  stopRequest,
} from '@rondo/contract/api';
import { z } from 'zod';
import { idempotencyKey } from '../idempotency/idempotent-requests';

/** A new run can be subscribed to from its first event, without a second message. */
export const runCreate = newRunFields
  .extend({ subscribe: z.boolean().default(false), idempotency_key: idempotencyKey })
  .superRefine(refuseImpossibleRun);

export const runUnsubscribe = z.strictObject({ run_id: runId });
export const runSubscribe = runUnsubscribe.extend({ after_seq: z.number().int().min(0).max(greatestSeq).default(0) });
export const runStop = runUnsubscribe.extend(stopRequest.shape);
export const runInput = runUnsubscribe.extend(runAnswer.shape).extend({ idempotency_key: idempotencyKey });
export const runBudget = budgetRaiseFields
  .extend({ run_id: runId, idempotency_key: idempotencyKey })
  .refine(hasAmount, noAmount);
export const approvalDecide = decisionFields
  .extend({ approval_id: approvalId, idempotency_key: idempotencyKey })
  .refine(isConsistentDecision, inconsistentDecision);
