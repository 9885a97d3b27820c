import { z } from 'zod';
import { approval } from '../approval';
import { approvalId, callId, runId } from '../ids';
import { run, runStatus } from '../run';
import { toolCall } from '../tool-call';
import { callerResultFields, saysNothing, saysSomething } from '../caller-tool';
import { decisionFields, inconsistentDecision, isConsistentDecision } from './approvals';
import { newRunFields, refuseImpossibleRun } from './new-run';
import { pascalCase } from './option-names';
import { problemBody } from './problem-codes';
import type { ApiSchemas } from './route';
import { greatestSeq, runEvents, streamEvent } from './run-events';
import { budgetRaiseFields, hasAmount, noAmount, runAnswer, stopRequest } from './runs';

/** What a client names a request by, to send it again without doing it twice. */
export const idempotencyKey = z.string().regex(/^[\x20-\x7e]{1,255}$/, 'must be 1 to 255 printable ASCII characters');

const key = { idempotency_key: idempotencyKey.optional() };
const oneRun = z.strictObject({ run_id: runId });

const refusedAcknowledgement = z.object({ ok: z.literal(false), error: problemBody });
const toAcknowledgement = <Data extends z.ZodType>(data: Data) => z.object({ ok: z.literal(true), data });
const acknowledge = <Data extends z.ZodType>(data: Data) => z.union([toAcknowledgement(data), refusedAcknowledgement]);

/** Of messages that take an `idempotency_key`. */
const acknowledgeOnce = <Data extends z.ZodType>(data: Data) =>
  z.union([toAcknowledgement(data).extend({ replayed: z.literal(true).optional() }), refusedAcknowledgement]);

/** A message that clients send. */
export interface SocketMessage {
  readonly summary: string;
  readonly message: z.ZodType;
  readonly acknowledgement: z.ZodType;
}

/** The messages that a client sends in the namespace `/runs`, by their names, with what acknowledges them. */
export const socketMessages = {
  'run.subscribe': {
    summary: 'Subscribe to a run: facts after `after_seq`, then live events',
    message: oneRun.extend({
      after_seq: z.number().int().min(0).max(greatestSeq).default(0),
      after_epoch: z.number().int().min(0).max(greatestSeq).default(0),
    }),
    acknowledgement: acknowledge(z.object({ status: runStatus, head_seq: z.number().int() })),
  },
  'run.unsubscribe': {
    summary: 'End the subscription to a run',
    message: oneRun,
    acknowledgement: acknowledge(z.object({ run_id: runId })),
  },
  'run.create': {
    summary: 'Start a run, and with `subscribe: true` subscribe to it from its first event',
    message: newRunFields.extend({ subscribe: z.boolean().default(false), ...key }).superRefine(refuseImpossibleRun),
    acknowledgement: acknowledgeOnce(run),
  },
  'run.stop': {
    summary: 'Stop a run; idempotent',
    message: oneRun.extend(stopRequest.shape),
    acknowledgement: acknowledge(run),
  },
  'run.input': {
    summary: 'Answer a run that waits for input, and resume it',
    message: oneRun.extend(runAnswer.shape).extend(key),
    acknowledgement: acknowledgeOnce(run),
  },
  'run.budget': {
    summary: 'Raise the budget of a run',
    message: budgetRaiseFields.extend({ run_id: runId, ...key }).refine(hasAmount, noAmount),
    acknowledgement: acknowledgeOnce(run),
  },
  'approval.decide': {
    summary: 'Approve, edit or deny a tool call',
    message: decisionFields
      .extend({ approval_id: approvalId, ...key })
      .refine(isConsistentDecision, inconsistentDecision),
    acknowledgement: acknowledgeOnce(approval),
  },
  'tool_call.result': {
    summary: 'Give the result of a call of a tool that the caller runs',
    message: callerResultFields.extend({ tool_call_id: callId, ...key }).refine(saysSomething, saysNothing),
    acknowledgement: acknowledgeOnce(toolCall),
  },
} as const satisfies Record<string, SocketMessage>;

/** An event that the server sends. */
export interface SentEvent {
  readonly summary: string;
  readonly payload: z.ZodType;
}

const event: SentEvent = {
  summary: 'A fact or delta of a run, or a notice where retention has removed facts',
  payload: streamEvent,
};

/** Where clients get events: over a socket, with the messages that they send there, or as a stream of one run. */
export const eventChannels = {
  runs: {
    address: '/runs',
    title: 'Socket.IO namespace',
    messages: socketMessages,
    event,
    sending: { id: 'sendEvent', summary: 'Send the events of subscribed runs' },
  },
  runStream: {
    address: runEvents.streamRunEvents.path,
    title: "A run's events as server-sent events",
    description: '`event:` is the type of the event and `id:` the seq of a fact, so `Last-Event-ID` resumes after it.',
    parameters: { run_id: { description: 'The id of the run.' } },
    event,
    sending: { id: 'streamEvents', summary: 'Send the events of one run, to its end' },
  },
} as const;

const messages: [string, SocketMessage][] = Object.entries(socketMessages);

/** `run.subscribe` has the schemas `RunSubscribeMessage` and `RunSubscribeAcknowledgement`. */
export const socketSchemas: ApiSchemas = {
  requests: Object.fromEntries(messages.map(([name, { message }]) => [`${pascalCase(name)}Message`, message])),
  answers: {
    RefusedAcknowledgement: refusedAcknowledgement,
    ...Object.fromEntries(
      messages.map(([name, { acknowledgement }]) => [`${pascalCase(name)}Acknowledgement`, acknowledgement]),
    ),
  },
};
