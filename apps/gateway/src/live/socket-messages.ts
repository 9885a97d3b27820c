import { approvalId, runId } from '@rondo/contract';
import { decisionFields, inconsistentDecision, isConsistentDecision } from '@rondo/contract/api';
import { z } from 'zod';
import { idempotencyKey } from '../idempotency/idempotent-requests';
import { answer, budgetRaise, hasAmount, maxSeq, noAmount, stopRequest } from '../runs/run.dto';

/** The bodies of socket messages; that of `run.create` is `newSubscribedRun`. */
export const runUnsubscribe = z.strictObject({ run_id: runId });
export const runSubscribe = runUnsubscribe.extend({ after_seq: z.number().int().min(0).max(maxSeq).default(0) });
export const runStop = runUnsubscribe.extend(stopRequest.shape);
export const runInput = runUnsubscribe.extend(answer.shape).extend({ idempotency_key: idempotencyKey });
export const runBudget = budgetRaise
  .extend({ run_id: runId, idempotency_key: idempotencyKey })
  .refine(hasAmount, noAmount);
export const approvalDecide = decisionFields
  .extend({ approval_id: approvalId, idempotency_key: idempotencyKey })
  .refine(isConsistentDecision, inconsistentDecision);
