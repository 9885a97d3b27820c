import { z } from 'zod';
import { type RouteDefinition, defineRoutes } from '../route';
import { refuseFields } from './coverage';
import { langGraphCoverage } from './langgraph-coverage';
import {
  assistantFilter,
  assistantSearch,
  cronChange,
  cronFilter,
  cronSearch,
  flag,
  givenMetadata,
  historyRequest,
  langGraphRunRequest,
  name,
  newCron,
  pageFields,
  stateChange,
  streamModeQuery,
  threadCommand,
  threadCount,
  threadRequest,
  threadSearch,
  threadStream,
} from './langgraph-requests';

const threadParam = { schema: name, property: 'threadName', example: '9c5b1f2e-6f0c-4c5e-9a6e-0d6f8e2b7a11' } as const;
const runParam = { schema: name, property: 'runName', example: 'run_1' } as const;
const ofThread = { outer_thread_id: threadParam } as const;
const ofRun = { ...ofThread, outer_run_id: runParam } as const;
const ofAssistant = { assistant_id: { schema: name, property: 'assistantName', example: 'rondo' } } as const;

const json = { 200: { body: z.unknown() } } as const;
/** The handler writes the answer itself, since its head is sent long before its end. */
const written = { 200: { description: 'JSON, or server-sent events.', events: z.unknown() } } as const;
const states = z.strictObject({
  subgraphs: z.string().optional(),
  select: z.union([z.string(), z.array(z.string())]).optional(),
});
const joined = { cancel_on_disconnect: flag };
const namespaces = z.literal('', 'is not served: there are no subgraphs').optional();
const streamQuery = z.strictObject({ namespace: namespaces });

const search = { method: 'POST', role: 'reader', onlyReads: true, answers: json } as const;
const run = { method: 'POST', body: langGraphRunRequest, storesAnswer: false, answers: written } as const;

/** Routes that the SDK of LangGraph calls. They are no part of the API: their form is LangGraph's. */
export const langGraph = defineRoutes('langgraph', {
  getLangGraphHealth: { method: 'GET', path: '/langgraph/ok', summary: 'Say that the server answers', answers: json },
  getLangGraphInfo: { method: 'GET', path: '/langgraph/info', summary: 'Describe the server', answers: json },
  searchLangGraphAssistants: {
    ...search,
    path: '/langgraph/assistants/search',
    summary: 'List agents',
    body: assistantSearch,
  },
  countLangGraphAssistants: {
    ...search,
    path: '/langgraph/assistants/count',
    summary: 'Count agents',
    body: z.strictObject(assistantFilter),
  },
  getLangGraphAssistant: {
    method: 'GET',
    path: '/langgraph/assistants/{assistant_id}',
    summary: 'Read an agent',
    params: ofAssistant,
    answers: json,
  },
  getLangGraphGraph: {
    method: 'GET',
    path: '/langgraph/assistants/{assistant_id}/graph',
    summary: 'Draw the loop of an agent',
    params: ofAssistant,
    query: z.strictObject({ xray: z.string().optional() }),
    answers: json,
  },
  getLangGraphSchemas: {
    method: 'GET',
    path: '/langgraph/assistants/{assistant_id}/schemas',
    summary: 'Read the schemas of the input and the state',
    params: ofAssistant,
    answers: json,
  },
  getLangGraphSubgraphs: {
    method: 'GET',
    path: '/langgraph/assistants/{assistant_id}/subgraphs',
    summary: 'Say that an agent has no subgraphs',
    params: ofAssistant,
    query: z.strictObject({ recurse: z.string().optional() }),
    answers: json,
  },
  listLangGraphVersions: {
    ...search,
    path: '/langgraph/assistants/{assistant_id}/versions',
    summary: 'List the versions of an agent',
    params: ofAssistant,
    body: z.strictObject({
      ...pageFields,
      ...refuseFields({ metadata: { why: 'versions have none', harmless: [{}] } }),
    }),
  },
  createLangGraphThread: {
    method: 'POST',
    path: '/langgraph/threads',
    summary: 'Create a thread',
    body: threadRequest,
    answers: json,
  },
  searchLangGraphThreads: { ...search, path: '/langgraph/threads/search', summary: 'List threads', body: threadSearch },
  countLangGraphThreads: { ...search, path: '/langgraph/threads/count', summary: 'Count threads', body: threadCount },
  getLangGraphThread: {
    method: 'GET',
    path: '/langgraph/threads/{outer_thread_id}',
    summary: 'Read a thread',
    params: ofThread,
    query: z.strictObject({ include: z.union([z.string(), z.array(z.string())]).optional() }),
    answers: json,
  },
  updateLangGraphThread: {
    method: 'PATCH',
    path: '/langgraph/threads/{outer_thread_id}',
    summary: 'Merge the metadata of a thread',
    audit: 'thread.change',
    params: ofThread,
    body: z.strictObject({
      metadata: givenMetadata,
      ...refuseFields({ ttl: langGraphCoverage.requests['POST /threads'].refused.ttl }),
    }),
    answers: json,
  },
  deleteLangGraphThread: {
    method: 'DELETE',
    path: '/langgraph/threads/{outer_thread_id}',
    summary: 'Delete a thread',
    audit: 'thread.delete',
    params: ofThread,
    answers: { 204: {} },
  },
  getLangGraphState: {
    method: 'GET',
    path: '/langgraph/threads/{outer_thread_id}/state',
    summary: 'Read the state of a thread',
    params: ofThread,
    query: states,
    answers: json,
  },
  getLangGraphStateAt: {
    method: 'GET',
    path: '/langgraph/threads/{outer_thread_id}/state/{checkpoint_id}',
    summary: 'Read an earlier state of a thread',
    params: { ...ofThread, checkpoint_id: { schema: name, property: 'checkpointId', example: 'msg_1' } },
    query: states,
    answers: json,
  },
  updateLangGraphState: {
    method: 'POST',
    path: '/langgraph/threads/{outer_thread_id}/state',
    summary: 'Add messages to a thread',
    params: ofThread,
    body: stateChange,
    answers: json,
  },
  listLangGraphStates: {
    ...search,
    path: '/langgraph/threads/{outer_thread_id}/history',
    summary: 'List the states of a thread',
    params: ofThread,
    body: historyRequest,
  },
  commandLangGraphThread: {
    method: 'POST',
    path: '/langgraph/threads/{outer_thread_id}/commands',
    summary: 'Begin a run, or answer what a thread waits for',
    params: ofThread,
    body: threadCommand,
    answers: json,
  },
  followLangGraphThread: {
    method: 'POST',
    path: '/langgraph/threads/{outer_thread_id}/stream/events',
    summary: 'Follow a thread',
    role: 'reader',
    params: ofThread,
    body: threadStream,
    onlyReads: true,
    answers: written,
  },
  listLangGraphRuns: {
    method: 'GET',
    path: '/langgraph/threads/{outer_thread_id}/runs',
    summary: 'List the runs of a thread',
    params: ofThread,
    query: z.strictObject({
      limit: z.coerce.number().int().min(1).max(100).default(10),
      offset: z.coerce.number().int().min(0).default(0),
      status: z.enum(['pending', 'running', 'success', 'error', 'timeout', 'interrupted']).optional(),
      select: z.union([z.string(), z.array(z.string())]).optional(),
    }),
    answers: json,
  },
  createLangGraphRun: {
    ...run,
    path: '/langgraph/threads/{outer_thread_id}/runs',
    summary: 'Create a run',
    params: ofThread,
  },
  streamLangGraphRun: {
    ...run,
    path: '/langgraph/threads/{outer_thread_id}/runs/stream',
    summary: 'Create a run and stream its events',
    params: ofThread,
    query: streamQuery,
  },
  awaitLangGraphRun: {
    ...run,
    path: '/langgraph/threads/{outer_thread_id}/runs/wait',
    summary: 'Create a run and wait for its end',
    params: ofThread,
  },
  getLangGraphRun: {
    method: 'GET',
    path: '/langgraph/threads/{outer_thread_id}/runs/{outer_run_id}',
    summary: 'Read a run',
    params: ofRun,
    answers: json,
  },
  joinLangGraphRun: {
    method: 'GET',
    path: '/langgraph/threads/{outer_thread_id}/runs/{outer_run_id}/join',
    summary: 'Wait for the end of a run',
    params: ofRun,
    query: z.strictObject(joined),
    answers: written,
  },
  joinLangGraphStream: {
    method: 'GET',
    path: '/langgraph/threads/{outer_thread_id}/runs/{outer_run_id}/stream',
    summary: 'Stream the events of a run',
    params: ofRun,
    query: z.strictObject({
      ...joined,
      stream_mode: streamModeQuery,
      namespace: namespaces,
      checkpoint_id: name.optional(),
    }),
    answers: written,
  },
  cancelLangGraphRun: {
    method: 'POST',
    path: '/langgraph/threads/{outer_thread_id}/runs/{outer_run_id}/cancel',
    summary: 'Stop a run',
    audit: 'run.stop',
    params: ofRun,
    query: z.strictObject({
      wait: flag,
      action: z.literal('interrupt', 'rollback is not served: what a run has done stays in the log').optional(),
      reason: z.never('is not served: a run does not take the input of another one').optional(),
    }),
    body: z.strictObject({}),
    answers: { 204: {} },
  },
  createLangGraphCron: {
    method: 'POST',
    path: '/langgraph/runs/crons',
    summary: 'Create a schedule',
    audit: 'schedule.create',
    body: newCron,
    answers: json,
  },
  createLangGraphThreadCron: {
    method: 'POST',
    path: '/langgraph/threads/{outer_thread_id}/runs/crons',
    summary: 'Create a schedule of runs on a thread',
    audit: 'schedule.create',
    params: ofThread,
    body: newCron,
    answers: json,
  },
  updateLangGraphCron: {
    method: 'PATCH',
    path: '/langgraph/runs/crons/{schedule_id}',
    summary: 'Change a schedule',
    audit: 'schedule.change',
    body: cronChange,
    answers: json,
  },
  deleteLangGraphCron: {
    method: 'DELETE',
    path: '/langgraph/runs/crons/{schedule_id}',
    summary: 'Delete a schedule',
    audit: 'schedule.delete',
    answers: { 204: {} },
  },
  searchLangGraphCrons: {
    ...search,
    path: '/langgraph/runs/crons/search',
    summary: 'List schedules',
    body: cronSearch,
  },
  countLangGraphCrons: {
    ...search,
    path: '/langgraph/runs/crons/count',
    summary: 'Count schedules',
    body: z.strictObject(cronFilter),
  },
  createStatelessLangGraphRun: { ...run, path: '/langgraph/runs', summary: 'Create a run on a new thread' },
  streamStatelessLangGraphRun: {
    ...run,
    path: '/langgraph/runs/stream',
    summary: 'Create a run on a new thread and stream its events',
    query: streamQuery,
  },
  awaitStatelessLangGraphRun: {
    ...run,
    path: '/langgraph/runs/wait',
    summary: 'Create a run on a new thread and wait for its end',
  },
} satisfies Record<string, RouteDefinition>);
