import { z } from 'zod';
import { runId, threadId } from '../../ids';
import { requestedModel } from '../../model';
import { runStatus } from '../../run';
import { textLimits } from '../../text-limits';
import { type RouteDefinition, defineRoutes } from '../route';
import type { FacadeCoverage } from './coverage';

const noFeature = (what: string) => ({ why: `this server has no ${what}` });
const noRequests = { why: 'this server asks its clients nothing but the questions of runs' };

/** What Rondo serves of the Model Context Protocol, as a server. */
export const mcpCoverage = {
  path: '/mcp',
  routes: {
    'POST /': 'one message, in any revision from 2024-11-05 to 2026-07-28',
    'GET /': 'the rest of an answer after `Last-Event-ID`, up to revision 2025-11-25; 405 without that header',
  },
  refusedRoutes: { 'DELETE /': 'there are no sessions that could be ended' },
  requests: {
    '`method` of a message': {
      served: {
        'server/discover': 'revision 2026-07-28',
        initialize: 'up to 2025-11-25, as `ping` and the methods of tasks',
        ping: 'an empty result',
        'tools/list': 'the tools below',
        'tools/call': 'by a stream with progress, then the result',
        'tasks/get': 'a run as a task; its id is that of the run',
        'tasks/result': 'the result when the run is over',
        'tasks/cancel': 'stops the run',
        'notifications/initialized': 'nothing to do',
        'notifications/cancelled': 'stops the run that the call has begun, up to 2025-11-25',
      },
      refused: {
        'tasks/list': { why: '`GET /v1/runs` lists runs' },
        'tasks/update': { why: 'a question is answered by `answer_run`' },
        'subscriptions/listen': { why: 'the list of tools never changes' },
        'resources/list': noFeature('resources'),
        'resources/templates/list': noFeature('resources'),
        'resources/read': noFeature('resources'),
        'resources/subscribe': noFeature('resources'),
        'resources/unsubscribe': noFeature('resources'),
        'prompts/list': noFeature('prompts'),
        'prompts/get': noFeature('prompts'),
        'completion/complete': noFeature('completions'),
        'logging/setLevel': noFeature('log messages'),
        'elicitation/create': noRequests,
        'sampling/createMessage': noRequests,
        'roots/list': noRequests,
      },
    },
    '`run_agent` and `start_run`': {
      served: {
        input: 'what the agent shall do',
        agent: 'the name or id of a [stored agent](../agents.md)',
        model: 'the model. Default: [as for all façades](../facades.md#agents-models-and-instructions)',
        thread_id: 'the thread of an earlier run, which has ended',
      },
      refused: {},
    },
    '`get_run`': {
      served: { run_id: 'any run of the account', wait_s: 'up to 300: waits until it is over, or waits for a person' },
      refused: {},
    },
    '`answer_run`': {
      served: { run_id: 'a run that asks a question', answer: 'the answer, in words' },
      refused: {},
    },
    '`stop_run`': { served: { run_id: 'any run of the account' }, refused: {} },
  },
} as const satisfies FacadeCoverage;

const input = z.string().min(1).max(textLimits.block);
const runToStart = z.strictObject({
  input: input.describe('What the agent shall do.'),
  agent: z.string().min(1).max(200).describe('The name or id of a stored agent.').optional(),
  model: requestedModel.optional(),
  thread_id: threadId.describe('The thread of an earlier run, to go on with.').optional(),
});
const knownRun = z.strictObject({ run_id: runId });

/** The arguments of the tools. */
export const mcpToolInputs = {
  run_agent: runToStart,
  start_run: runToStart,
  get_run: knownRun.extend({
    wait_s: z
      .number()
      .min(0)
      .max(300)
      .describe('Wait this many seconds at most for the end of the run, or a question.')
      .optional(),
  }),
  answer_run: knownRun.extend({ answer: input.describe('The answer to the question of the run.') }),
  stop_run: knownRun,
};
export type McpToolName = keyof typeof mcpToolInputs;

/** What every tool says of its run. */
export const mcpRunOutcome = z.object({
  run_id: runId,
  thread_id: threadId,
  status: runStatus,
  /** The answer of a run that has ended, else why it goes no further. */
  text: z.string(),
  /** What the run asks. Null while it asks nothing. */
  question: z.string().nullable(),
});
export type McpRunOutcome = z.infer<typeof mcpRunOutcome>;

const stream = { description: 'One answer, as server-sent events.', events: z.unknown() } as const;

/** Routes that clients of the Model Context Protocol call. They are no part of the API. */
export const mcp = defineRoutes('mcp', {
  sendMcpMessage: {
    method: 'POST',
    path: '/mcp',
    summary: 'Send a message',
    role: 'reader',
    body: z.unknown(),
    storesAnswer: false,
    answers: { 200: stream, 202: { description: 'A notification, which has no answer.' } },
  },
  resumeMcpAnswer: {
    method: 'GET',
    path: '/mcp',
    summary: 'Read the rest of an answer',
    answers: { 200: stream },
  },
} satisfies Record<string, RouteDefinition>);
