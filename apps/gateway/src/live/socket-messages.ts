import { approval, approvalId, run, runId, runStatus } from '@rondo/contract';
import {
  type ApiSchemas,
  budgetRaiseFields,
  decisionFields,
  greatestSeq,
  hasAmount,
  inconsistentDecision,
  isConsistentDecision,
  newRunFields,
  noAmount,
  pascalCase,
  refuseImpossibleRun,
  runAnswer,
  stopRequest,
} from '@rondo/contract/api';
import { z } from 'zod';
import { idempotencyKey } from '../idempotency/idempotent-requests';
import { problemBody } from '../problems/problems';

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

const refusedAcknowledgement = z.object({ ok: z.literal(false), error: problemBody });
const acknowledged = <Data extends z.ZodType>(data: Data) => z.object({ ok: z.literal(true), data });
const acknowledgement = <Data extends z.ZodType>(data: Data) => z.union([acknowledged(data), refusedAcknowledgement]);

/** Of messages that take an `idempotency_key`. */
const replayable = <Data extends z.ZodType>(data: Data) =>
  z.union([acknowledged(data).extend({ replayed: z.literal(true).optional() }), refusedAcknowledgement]);

interface SocketMessage {
  readonly schema: z.ZodType;
  readonly acknowledgement: z.ZodType;
  readonly summary: string;
}

/** The messages that a client sends in the namespace `/runs`, by their names, with what acknowledges them. */
export const socketMessages = {
  'run.subscribe': {
    schema: runSubscribe,
    acknowledgement: acknowledgement(z.object({ status: runStatus, head_seq: z.number().int() })),
    summary: 'Subscribe to a run: facts after `after_seq`, then live events',
  },
  'run.unsubscribe': {
    schema: runUnsubscribe,
    acknowledgement: acknowledgement(z.object({ run_id: runId })),
    summary: 'End the subscription to a run',
  },
  'run.create': {
    schema: runCreate,
    acknowledgement: replayable(run),
    summary: 'Start a run, and with `subscribe: true` subscribe to it from its first event',
  },
  'run.stop': { schema: runStop, acknowledgement: acknowledgement(run), summary: 'Stop a run; idempotent' },
  'run.input': {
    schema: runInput,
    acknowledgement: replayable(run),
    summary: 'Answer a run that waits for input, and resume it',
  },
  'run.budget': {
    schema: runBudget,
    acknowledgement: replayable(run),
    summary: 'Raise the budget of a run',
  },
  'approval.decide': {
    schema: approvalDecide,
    acknowledgement: replayable(approval),
    summary: 'Approve, edit or deny a tool call',
  },
} as const satisfies Record<string, SocketMessage>;

const messages: [string, SocketMessage][] = Object.entries(socketMessages);

/** `run.subscribe` has the schemas `RunSubscribeMessage` and `RunSubscribeAcknowledgement`. */
export const socketSchemas: ApiSchemas = {
  requests: Object.fromEntries(messages.map(([name, { schema }]) => [`${pascalCase(name)}Message`, schema])),
  answers: {
    RefusedAcknowledgement: refusedAcknowledgement,
    ...Object.fromEntries(
      messages.map(([name, message]) => [`${pascalCase(name)}Acknowledgement`, message.acknowledgement]),
    ),
  },
};
