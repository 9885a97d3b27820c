import { z } from 'zod';
import { awaitedCall, callerResult, callerResultFields, callerTool, saysNothing, saysSomething } from '../caller-tool';
import { callId, runId, threadId } from '../ids';
import { run } from '../run';
import { textLimits } from '../text-limits';
import { toolCall } from '../tool-call';
import { exampleIds as ids } from './example-ids';
import { createPage, pageQuery } from './paging';
import { type ApiSchemas, defineRoutes } from './route';

const resultOfCall = callerResultFields.extend({ tool_call_id: callId }).refine(saysSomething, saysNothing);

const toolResults = z.strictObject({
  results: z
    .array(resultOfCall)
    .min(1)
    .max(textLimits.callsInReply)
    .refine((results) => new Set(results.map(({ tool_call_id }) => tool_call_id)).size === results.length, {
      message: 'must not name a call twice',
    })
    .describe('Of calls of this run. All are taken, or none.'),
});

/** A call of a tool of the caller, while it waits for its result. */
const callerCall = z.object({
  id: callId,
  run_id: runId,
  thread_id: threadId,
  name: z.string(),
  arguments: toolCall.shape.arguments.describe('As the model wrote them: validate them before you use them.'),
  effect_class: toolCall.shape.effect_class,
  attempt: toolCall.shape.attempt.describe('2 or more: a person had it sent again, because its outcome was unknown.'),
  requested_at: awaitedCall.shape.requested_at,
  expires_at: awaitedCall.shape.expires_at,
});
const callerCallPage = createPage(callerCall);

const problems = ['quota_exceeded', 'tool_call_answered', 'tool_call_not_awaited', 'tool_call_over'] as const;

/** Tools that the caller runs: `caller_tools` of a run or an agent. */
export const callerToolCalls = defineRoutes('runs', {
  listCallerCalls: {
    method: 'GET',
    path: '/v1/tool-calls',
    client: 'read',
    summary: 'List the calls that wait for a result of the caller, oldest first',
    query: pageQuery.extend({ run_id: runId.optional() }),
    answers: { 200: { body: callerCallPage, isParsed: false } },
  },
  answerToolCall: {
    method: 'POST',
    path: '/v1/tool-calls/{tool_call_id}/result',
    client: 'answer',
    summary: 'Give the result of a call of a tool that the caller runs',
    description:
      'Once: the same result again is accepted, and another one refused with `tool_call_answered`. After `expires_at`, or when ' +
      'its run was ended, a call takes none: `tool_call_over`. The run goes on when none of its calls waits for a result any more.',
    body: callerResult,
    answers: { 200: { body: toolCall, isParsed: false } },
    problems,
  },
  answerToolCalls: {
    method: 'POST',
    path: '/v1/runs/{run_id}/tool-results',
    client: 'answer',
    summary: 'Give the results of several calls of a run at once',
    description:
      'Each as by `POST /v1/tool-calls/{id}/result`, in one transaction: where one is refused, none is taken.',
    body: toolResults,
    answers: { 200: { body: run, isParsed: false } },
    problems: [...problems, 'tool_call_not_found'],
  },
});

export const callerToolSchemas: ApiSchemas = {
  shared: { CallerTool: callerTool },
  requests: { CallerResult: callerResult, ToolResults: toolResults },
  answers: { AwaitedCall: awaitedCall, CallerCall: callerCall, CallerCallPage: callerCallPage },
  examples: {
    CallerTool: {
      name: 'get_weather',
      description: 'The weather of a city, as it is now.',
      parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
      timeout_s: 60,
      effect_class: 'pure',
    },
    CallerResult: { output: '18 °C, light rain' },
    ToolResults: { results: [{ tool_call_id: ids.call, output: '18 °C, light rain' }] },
    CallerCall: {
      id: ids.call,
      run_id: ids.run,
      thread_id: ids.thread,
      name: 'get_weather',
      arguments: { city: 'Bergen' },
      effect_class: 'pure',
      attempt: 1,
      requested_at: '2026-11-25T09:00:03.000Z',
      expires_at: '2026-11-25T09:01:03.000Z',
    },
  },
};
