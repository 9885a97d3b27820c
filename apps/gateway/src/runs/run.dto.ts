import {
  budgetSettings,
  type Run,
  agentId,
  fileId,
  inputContent,
  message,
  projectId,
  recordedFact,
  run,
  runStatus,
  runWait,
  settingsRequest,
  threadId,
  toolCall,
  usage,
} from '@rondo/contract';
import type { AgentResult, LogGap, RunCounts, RunSnapshot } from '@rondo/persistence';
import { createZodDto } from 'nestjs-zod';
import { z } from 'zod';
import { mostFiles } from '../files/form-bodies';
import { idempotencyKey } from '../idempotency/idempotent-requests';
import { forkRequest } from './fork-request';
import { verification } from './log-verification';
import { metadata } from '../http/metadata';
import { pageOf, pageQuery } from '../http/paging';
import { editedMessage, refuseImpossibleEdit, refuseImpossibleRun } from './new-run-rules';

export const onActiveRun = z.enum(['reject', 'queue', 'replace']);

const fileIds = z
  .array(fileId)
  .min(1)
  .max(mostFiles)
  .refine((ids) => new Set(ids).size === ids.length, 'must not name a file twice')
  .optional()
  .describe(
    'Uploaded files. They are in `/workspace` before the model is asked, and the message lists them; images are also shown to the model.',
  );

const newRunOnThread = settingsRequest.extend({
  agent_id: agentId
    .optional()
    .describe("A stored agent. When absent, the thread's, else the account's default; none where `agent` is given."),
  input: inputContent.optional().describe('A string, or blocks of text and images.'),
  files: fileIds,
  edit_message_id: editedMessage,
  on_active_run: onActiveRun
    .default('reject')
    .describe(
      '`queue`: it waits for its turn. `replace`: the active run is stopped, and this one starts before the queued ones.',
    ),
  metadata: metadata.default({}),
});

const newRunAnywhere = newRunOnThread.extend({
  thread_id: threadId.optional().describe('When absent, a new thread is created.'),
  project_id: projectId.optional().describe('The project of the new thread.'),
});

const newRun = newRunAnywhere.superRefine(refuseImpossibleRun);

/** By socket: a new run can be subscribed to from its first event, without a second message. */
export const newSubscribedRun = newRunAnywhere
  .extend({ subscribe: z.boolean().default(false), idempotency_key: idempotencyKey })
  .superRefine(refuseImpossibleRun);

export const stopRequest = z.strictObject({ reason: z.string().max(500).optional() });
export const answer = z.strictObject({ content: inputContent, files: fileIds });

/** At least one of the two must be given. */
export const budgetRaise = z.strictObject({
  usd: budgetSettings.shape.usd.describe('The new budget in money, at least the present one.'),
  tokens: budgetSettings.shape.tokens.describe('The new budget in tokens, at least the present one.'),
});
export const hasAmount = ({ usd, tokens }: z.infer<typeof budgetRaise>): boolean =>
  usd !== undefined || tokens !== undefined;
export const noAmount = { path: ['usd'], message: 'give usd, tokens, or both' };

export const locationOf = ({ id }: Pick<Run, 'id'>): string => `/v1/runs/${id}`;

/** The largest value of the column; no log has more facts. */
export const maxSeq = 2 ** 31 - 1;
const seq = z.coerce.number().int().min(0).max(maxSeq);

export const logGap = z.object({
  from: z.number().int(),
  to: z.number().int(),
  reason: z.literal('retention'),
}) satisfies z.ZodType<LogGap>;
export const runSnapshot = z.object({
  through_seq: z.number().int(),
  run,
  messages: z.array(message),
}) satisfies z.ZodType<RunSnapshot>;

const eventPage = z.object({
  data: z.array(recordedFact),
  head_seq: z.number().int(),
  gap: logGap.optional().describe('Requested facts that retention has removed.'),
  snapshot: runSnapshot.optional().describe('With a gap: the current run, and the last messages of its dialogue.'),
});

export const agentResult = z.object({
  success: z.boolean(),
  result: z.object({
    response: z.string(),
    reasoning: z.string(),
    tools_executed: z.array(
      z.object({
        name: z.string(),
        success: z.boolean(),
        result: z.string(),
        error: z.string().nullable(),
        omitted: z
          .literal(true)
          .optional()
          .describe('The result is left out because later ones fill the response; the list of tool calls has it.'),
        metrics: z.object({ duration_ms: z.number().nullable() }),
      }),
    ),
    agent: z.string().nullable(),
    model: z.string(),
    token_usage: usage,
    timestamp: z.string(),
  }),
  error: z.string().nullable(),
  metrics: z.object({ duration_ms: z.number(), iterations: z.number().int(), tool_calls: z.number().int() }),
}) satisfies z.ZodType<AgentResult>;

export const runCounts = z
  .record(runStatus, z.number().int())
  .describe('How many runs there are in each status.') satisfies z.ZodType<RunCounts>;

export class NewRunDto extends createZodDto(newRun) {}
export class NewRunOnThreadDto extends createZodDto(newRunOnThread.superRefine(refuseImpossibleEdit)) {}
export class StopRequestDto extends createZodDto(stopRequest) {}
export class NewForkDto extends createZodDto(forkRequest) {}
export class AnswerDto extends createZodDto(answer) {}
export class BudgetRaiseDto extends createZodDto(budgetRaise.refine(hasAmount, noAmount)) {}

export class RunDto extends createZodDto(run) {}
export class RunPageDto extends createZodDto(pageOf(run)) {}
export class RunCountsDto extends createZodDto(runCounts) {}
export class WaitQueryDto extends createZodDto(
  z.strictObject({ timeout_s: z.coerce.number().min(0).max(300).default(30) }),
) {}
export class EventQueryDto extends createZodDto(
  z.strictObject({
    after: seq.default(0).describe('Facts with a greater seq.'),
    limit: z.coerce
      .number()
      .int()
      .min(1)
      .max(1000)
      .default(200)
      .describe('A page of long facts has fewer: read on until `head_seq`.'),
  }),
) {}
export class StreamQueryDto extends createZodDto(
  z.strictObject({
    after: seq.optional().describe('`Last-Event-ID` wins over it.'),
  }),
) {}
export class EventPageDto extends createZodDto(eventPage) {}
export class LogVerificationDto extends createZodDto(verification) {}
export class ToolCallQueryDto extends createZodDto(pageQuery) {}
export class ToolCallPageDto extends createZodDto(pageOf(toolCall)) {}
export class RunWaitDto extends createZodDto(runWait) {}
export class AgentResultDto extends createZodDto(agentResult) {}
