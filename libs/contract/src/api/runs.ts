import { z } from 'zod';
import { inputContent } from '../content';
import { inputAnswer } from '../elicitation';
import { requestedModel } from '../model';
import { run } from '../run';
import { budgetSettings, settingsRequest } from '../run-settings';
import { resolution, toolCall } from '../tool-call';
import { agentOfRun, fileIds, newRun, newRunOnThread, onActiveRun, workspaceThen } from './new-run';
import { type ApiSchemas, defineRoutes } from './route';
import { greatestSeq } from './run-events';

export const stopRequest = z.strictObject({
  reason: z.string().max(500).optional(),
  error: z
    .string()
    .min(1)
    .max(500)
    .optional()
    .describe('What went wrong. The run then ends as `failed` with the code `stopped_with_error` and this message.'),
});
export const runAnswer = z.strictObject({ content: inputContent, files: fileIds });

const newFork = z.strictObject({
  at_seq: z
    .number()
    .int()
    .min(1)
    .max(greatestSeq)
    .describe(
      'The last fact to share. Inside an iteration, or where the run waits, stops or ends, fewer are shared: `forked_from.seq` says how many, and `run.forked` says why.',
    ),
  input: inputContent.optional().describe('Needed where the model has said its last word.'),
  workspace: workspaceThen
    .optional()
    .describe('The workspace of the fork gets the files as they were then. Absent: it is empty except for uploads.'),
  model: requestedModel.optional().describe("The fork's model. Default: that of the origin."),
});

const newRetry = z.strictObject({
  workspace: workspaceThen
    .optional()
    .describe(
      'The files of the workspace become what they were before the run. Processes in it end. Absent: they stay as they are.',
    ),
  model: requestedModel.optional().describe('Default: that of the run.'),
});

/** Without the rule that one of the two must be given, which is `hasAmount`. */
export const budgetRaiseFields = z.strictObject({
  usd: budgetSettings.shape.usd.describe('The new budget in money, at least the present one.'),
  tokens: budgetSettings.shape.tokens.describe('The new budget in tokens, at least the present one.'),
});
export const hasAmount = ({ usd, tokens }: z.infer<typeof budgetRaiseFields>): boolean =>
  usd !== undefined || tokens !== undefined;
export const noAmount = { path: ['usd'], message: 'give usd, tokens, or both' };
const budgetRaise = budgetRaiseFields.refine(hasAmount, noAmount);

const longestOutput = 100_000;

const toolCallInput = z.strictObject({
  key: z.string().max(200).optional().describe('Which question of the call, where it asks more than one.'),
  action: inputAnswer.shape.action.describe(
    '`accept`: with the `content` of a form, or once the page is open. `decline`: no. `cancel`: not decided.',
  ),
  content: inputAnswer.shape.content.describe('Of a form, by the names of its fields.'),
});

const toolCallResolution = z
  .strictObject({
    outcome: resolution.describe(
      '`completed`: it took effect. `not_applied`: it did not. `retry`: it is sent again, with the same idempotency key.',
    ),
    output: z
      .string()
      .max(longestOutput)
      .optional()
      .describe('Added to the result that the model gets, for example the output of the tool.'),
  })
  .refine(({ outcome, output }) => outcome !== 'retry' || output === undefined, {
    path: ['output'],
    message: 'a call that is tried again answers for itself',
  });

const headers = {
  traceparent: {
    description: 'W3C Trace Context: the spans of the run join this trace. Ignored if it is malformed.',
    example: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  },
};

const newRunAnswers = { 202: { body: run, isParsed: false, location: '/v1/runs/{id}' } } as const;

/** What starts runs, and what people do to them. */
export const runs = defineRoutes('runs', {
  createRun: {
    method: 'POST',
    path: '/v1/runs',
    client: 'send',
    summary: 'Start a run, on a new thread unless `thread_id` names one',
    headers,
    body: newRun,
    form: 'input',
    answers: newRunAnswers,
    problems: [
      'agent_not_found',
      'balance_exhausted',
      'files_not_kept',
      'message_not_newest',
      'model_not_allowed',
      'project_not_found',
      'quota_exceeded',
      'thread_busy',
      'thread_full',
      'thread_not_found',
      'too_many_active_runs',
    ],
  },
  createRunOnThread: {
    method: 'POST',
    path: '/v1/threads/{thread_id}/runs',
    client: 'send',
    summary: 'Start a run on a thread',
    headers,
    body: newRunOnThread,
    form: 'input',
    answers: newRunAnswers,
    problems: [
      'agent_not_found',
      'balance_exhausted',
      'files_not_kept',
      'message_not_newest',
      'model_not_allowed',
      'quota_exceeded',
      'thread_busy',
      'thread_full',
      'too_many_active_runs',
    ],
  },
  stopRun: {
    method: 'POST',
    path: '/v1/runs/{run_id}/stop',
    client: 'send',
    summary: 'Stop a run; idempotent',
    description:
      'Ends the run and its work in progress: the model stream is closed, tools are killed, and `run.stopped` carries a ' +
      'receipt. With an `error` the run ends by `run.failed`, which carries the receipt too. The first stop of a run counts. ' +
      'The model is told nothing. A message that is added to the thread waits for its next run.',
    audit: 'run.stop',
    body: stopRequest,
    answers: {
      200: { description: 'The run was terminal already.', body: run, isParsed: false },
      202: { body: run, isParsed: false },
    },
  },
  answerRun: {
    method: 'POST',
    path: '/v1/runs/{run_id}/input',
    client: 'answer',
    summary: 'Answer a run that waits for input, and resume it',
    description:
      'It never stops anything. A run that waits with the reason `tool_unknown` needs the outcome of a tool call: resolve that.',
    body: runAnswer,
    form: 'content',
    answers: { 202: { body: run, isParsed: false } },
    problems: ['quota_exceeded', 'run_not_waiting', 'thread_full'],
  },
  forkRun: {
    method: 'POST',
    path: '/v1/runs/{run_id}/fork',
    summary: 'Start a run that begins with the log of another one',
    description:
      'The facts up to a place between two iterations, with their messages and the answers of their tools, are copied to a new ' +
      'run on a new thread. Nothing of them is executed again. The workspace of the fork is empty except for uploads, unless `workspace` says otherwise.',
    audit: 'run.fork',
    headers,
    body: newFork,
    answers: newRunAnswers,
    problems: [
      'balance_exhausted',
      'files_not_kept',
      'fork_needs_input',
      'log_too_long',
      'log_trimmed',
      'model_not_allowed',
      'quota_exceeded',
      'too_many_active_runs',
    ],
  },
  retryRun: {
    method: 'POST',
    path: '/v1/runs/{run_id}/retry',
    summary: 'Ask what a run was asked once more',
    description:
      'A new run on the same thread, with the settings of this one, which is stopped first if it is active. What it was told while it ' +
      'worked is asked with its question. No person may have written on the thread since; the question and what followed are ' +
      'withdrawn, as by an edit.',
    audit: 'run.retry',
    headers,
    body: newRetry,
    answers: newRunAnswers,
    problems: [
      'balance_exhausted',
      'files_not_kept',
      'message_not_newest',
      'model_not_allowed',
      'quota_exceeded',
      'thread_full',
      'too_many_active_runs',
    ],
  },
  raiseBudget: {
    method: 'POST',
    path: '/v1/runs/{run_id}/budget',
    summary: 'Raise the budget of a run',
    description:
      'To these amounts, not by them, so the same request again changes nothing. A run that waits for its budget goes on; ' +
      'one that is at work goes on beyond the old budget.',
    audit: 'run.budget',
    body: budgetRaise,
    answers: { 202: { body: run, isParsed: false } },
    problems: ['run_over'],
  },
  resolveToolCall: {
    method: 'POST',
    path: '/v1/tool-calls/{tool_call_id}/resolve',
    summary: 'Resolve a tool call whose outcome is unknown',
    description:
      'For a run with `processor.unknown_outcome: "park"` that waits with the reason `tool_unknown`. The first resolution wins. ' +
      'The run resumes when none of its calls needs a resolution any more.',
    audit: 'tool_call.resolve',
    body: toolCallResolution,
    answers: { 200: { body: toolCall, isParsed: false } },
    problems: ['tool_call_not_unknown'],
  },
  giveToolCallInput: {
    method: 'POST',
    path: '/v1/tool-calls/{tool_call_id}/input',
    summary: 'Answer what an MCP server asks',
    description:
      'For a run that waits with the reason `elicitation`. The first answer wins. The content of a form is checked by its fields. ' +
      'The run goes on when every question is answered, and the call is sent to the server once more.',
    audit: 'tool_call.input',
    body: toolCallInput,
    answers: { 200: { body: toolCall, isParsed: false } },
    problems: ['input_not_asked'],
  },
});

const { processor, limits, context } = settingsRequest.shape;

export const runSchemas: ApiSchemas = {
  shared: { ToolCallOutcome: resolution },
  requests: {
    OnActiveRun: onActiveRun,
    NewRun: newRun,
    NewRunOnThread: newRunOnThread,
    NewFork: newFork,
    NewRetry: newRetry,
    AgentOverrides: agentOfRun,
    ProcessorOverrides: processor.unwrap(),
    LimitOverrides: limits.unwrap(),
    ContextOverrides: context.unwrap(),
    Answer: runAnswer,
    BudgetRaise: budgetRaise,
    StopRequest: stopRequest,
    ToolCallResolution: toolCallResolution,
    ToolCallInput: toolCallInput,
  },
  examples: {
    NewRun: {
      input: 'Write a small program and run it.',
      model: 'openai/gpt-5',
      budget: { usd: 1 },
      metadata: { ticket: 'T-118' },
    },
    NewRunOnThread: { input: 'Now make it count to ten.', on_active_run: 'queue' },
    NewFork: { at_seq: 9, input: 'Write it in Ruby instead.', model: 'anthropic/claude-sonnet-4-5' },
    NewRetry: { workspace: 'as_then' },
    Answer: { content: 'Blue.' },
    BudgetRaise: { usd: 2 },
    StopRequest: { reason: 'It is going in circles.' },
    ToolCallInput: { action: 'accept', content: { reason: 'A refund' } },
    ToolCallResolution: { outcome: 'completed', output: 'The ticket was created: T-118.' },
  },
};
