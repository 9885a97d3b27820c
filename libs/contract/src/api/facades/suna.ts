import { z } from 'zod';
import { inputContent } from '../../content';
import { threadId } from '../../ids';
import { requestedModel } from '../../model';
import { reasoningEffort } from '../../run-settings';
import { fileIds } from '../new-run';
import { type RouteDefinition, defineRoutes } from '../route';
import { type FacadeCoverage, refuseFields } from './coverage';

/** What every run of that API may say, and Rondo decides by the agent. */
const refusedSettings = {
  enable_context_manager: {
    why: 'contexts are compacted by the settings of the agent',
    harmless: [true, 'true', false, 'false'],
  },
} as const;

/** The builder of agents, which is a mode of runs there. */
const refusedOfInitiation = {
  ...refusedSettings,
  is_agent_builder: { why: 'agents are stored by `/v1/agents`', harmless: [false, 'false'] },
  target_agent_id: { why: 'agents are stored by `/v1/agents`' },
} as const;

const runFields = {
  model_name:
    'the model, as `provider/model` or by its alias. Default: [as for all façades](../facades.md#agents-models-and-instructions)',
  agent_id: 'a [stored agent](../agents.md), by its id or its name',
  stream: 'is not read: each run can be watched',
  enable_thinking: '`true`: `llm.enable_thinking` of the run. Otherwise the agent decides',
  reasoning_effort: '`llm.reasoning_effort` of the run, with `enable_thinking` alone. Default: `low`',
};

/** What Rondo serves of the HTTP API that Suna had in 2025. */
export const sunaCoverage = {
  path: '/suna/api',
  routes: {
    'GET /health': 'that the server answers, without a key',
    'GET /billing/available-models': 'the models of the deployment that the account may use',
    'POST /agent/initiate': 'a run on a new thread, with files',
    'POST /agent/start':
      'the same, or with `thread_id` a run on that thread, or what is said to the run that is active there',
    'GET /agent-runs/active': 'the newest 100 runs that are at work',
    'POST /threads': 'a thread',
    'GET /threads': 'the newest 100 threads',
    'GET /threads/{id}': 'a thread',
    'GET /threads/{id}/messages': 'its newest messages, oldest first: up to 1,000, of up to some 16 million characters',
    'POST /threads/{id}/messages/add':
      'a message of the user: the answer where the run asks for one, or what the run at work reads',
    'POST /thread/{id}/agent/start': 'a run that reads the messages; or the run that is active',
    'GET /thread/{id}/agent-runs': 'the newest 100 runs of a thread',
    'GET /agent-run/{id}': 'a run',
    'GET /agent-run/{id}/stream': 'its events from the first one on, up to its end or its question',
    'POST /agent-run/{id}/stop': 'stops it',
  },
  refusedRoutes: {
    '* /agents/*': 'use `/v1/agents`',
    '* /project/*': 'use `/v1/projects`',
    '* /sandboxes/*': 'use `/v1/sandboxes`',
    '* /billing/*': 'use `/v1/balance`',
    '* /triggers/*': 'use `/v1/schedules` and `/v1/triggers`',
    '* /workflows/*': 'a run is begun by its input',
    '* /knowledge-base/*': 'use `/v1/memory-stores`, or files of a run',
    '* /transcription/*': 'upload the recording with the run, and let a tool read it',
    '* /feature-flags/*': 'there are none',
    '* /api-keys/*': 'use `/v1/api-keys`',
  },
  requests: {
    'form of `POST /agent/initiate`': {
      served: { prompt: 'the input', files: 'up to 20 files, which are in `/workspace`', ...runFields },
      refused: refusedOfInitiation,
    },
    'form of `POST /agent/start`': {
      served: { thread_id: 'default: a new thread', prompt: 'the input', files: 'up to 20 files', ...runFields },
      refused: refusedSettings,
    },
    'body of `POST /thread/{id}/agent/start`': { served: runFields, refused: refusedSettings },
  },
} as const satisfies FacadeCoverage;

const settings = {
  model_name: requestedModel.nullish(),
  agent_id: z.string().min(1).max(200).nullish(),
  stream: z.unknown().optional(),
  enable_thinking: z.union([z.boolean(), z.enum(['true', 'false'])]).nullish(), // a text in a form
  reasoning_effort: reasoningEffort.nullish(),
  ...refuseFields(refusedSettings),
};

const initiation = z.strictObject({
  prompt: inputContent,
  files: fileIds,
  ...settings,
  ...refuseFields(refusedOfInitiation),
});
export type SunaInitiation = z.infer<typeof initiation>;

const words = z.string().min(1).max(100_000);
const anyStart = z.strictObject({
  thread_id: threadId.nullish(),
  prompt: words.optional(),
  files: fileIds,
  ...settings,
});
export type SunaAnyStart = z.infer<typeof anyStart>;

const start = z.strictObject(settings);
export type SunaStart = z.infer<typeof start>;

const text = z.string();
const begunRun = z.object({ thread_id: text, agent_run_id: text });
const namesOfSettings = Object.keys({ ...runFields, ...refusedSettings });
const status = z.enum(['running', 'completed', 'stopped', 'failed']);

const thread = z.object({
  thread_id: text,
  project_id: text.nullable(),
  account_id: text,
  name: text.nullable(),
  is_public: z.boolean(),
  metadata: z.record(text, z.unknown()),
  created_at: text,
  updated_at: text,
});

/** A message as rows of Suna's database have it: its content and its metadata are JSON as text. */
const row = z.object({
  message_id: text.nullable(),
  thread_id: text,
  type: text,
  is_llm_message: z.boolean(),
  content: text,
  metadata: text,
  created_at: text,
  updated_at: text,
});
export type SunaRow = z.infer<typeof row>;

const runRow = z.object({
  id: text,
  thread_id: text,
  status,
  started_at: text,
  completed_at: text.nullable(),
  error: text.nullable(),
  created_at: text,
});

const run = z.object({
  id: text,
  threadId: text,
  status,
  startedAt: text,
  completedAt: text.nullable(),
  error: text.nullable(),
});

const price = z.number().nullable();
const offeredModel = z.object({
  id: text,
  display_name: text,
  short_name: text,
  requires_subscription: z.boolean(),
  is_available: z.boolean(),
  input_cost_per_million_tokens: price,
  output_cost_per_million_tokens: price,
  context_window: z.number().nullable(),
  recommended: z.boolean(),
});

/** Routes that clients of Suna call. They are no part of the API: their form is Suna's. */
export const suna = defineRoutes('suna', {
  getSunaHealth: {
    method: 'GET',
    path: '/suna/api/health',
    role: 'open',
    summary: 'Say that the server answers',
    answers: { 200: { body: z.object({ status: text, timestamp: text, instance_id: text }) } },
  },
  listSunaModels: {
    method: 'GET',
    path: '/suna/api/billing/available-models',
    summary: 'List the models that the account may use',
    answers: {
      200: {
        body: z.object({ models: z.array(offeredModel), subscription_tier: text, total_models: z.number() }),
      },
    },
  },
  initiateSunaAgent: {
    method: 'POST',
    path: '/suna/api/agent/initiate',
    summary: 'Begin a run on a new thread',
    form: 'prompt',
    formFields: Object.keys({ ...runFields, ...refusedOfInitiation }),
    body: initiation,
    answers: { 200: { body: begunRun } },
  },
  startSunaRun: {
    method: 'POST',
    path: '/suna/api/agent/start',
    summary: 'Begin a run on a new thread, or go on with one',
    form: 'prompt',
    formFields: ['thread_id', ...namesOfSettings],
    body: anyStart,
    answers: { 200: { body: begunRun.extend({ status: text }) } },
  },
  listActiveSunaRuns: {
    method: 'GET',
    path: '/suna/api/agent-runs/active',
    summary: 'List the runs that are at work, newest first',
    answers: { 200: { body: z.object({ active_runs: z.array(runRow) }) } },
  },
  createSunaThread: {
    method: 'POST',
    path: '/suna/api/threads',
    summary: 'Create a thread',
    form: 'name',
    body: z.strictObject({ name: z.string().trim().min(1).max(200).optional() }),
    answers: { 200: { body: thread } },
  },
  listSunaThreads: {
    method: 'GET',
    path: '/suna/api/threads',
    summary: 'List threads, newest first',
    answers: { 200: { body: z.object({ threads: z.array(thread) }) } },
  },
  getSunaThread: {
    method: 'GET',
    path: '/suna/api/threads/{thread_id}',
    client: 'read',
    summary: 'Read a thread',
    answers: { 200: { body: thread } },
  },
  listSunaMessages: {
    method: 'GET',
    path: '/suna/api/threads/{thread_id}/messages',
    client: 'read',
    summary: 'List the messages of a thread, oldest first',
    query: z.strictObject({ order: z.literal('asc').optional() }),
    answers: { 200: { body: z.object({ messages: z.array(row) }) } },
  },
  addSunaMessage: {
    method: 'POST',
    path: '/suna/api/threads/{thread_id}/messages/add',
    summary: 'Add a message of the user',
    query: z.strictObject({ message: words.optional() }),
    body: z.strictObject({ message: words.optional() }),
    answers: { 200: { body: row } },
  },
  startSunaAgent: {
    method: 'POST',
    path: '/suna/api/thread/{thread_id}/agent/start',
    summary: 'Begin a run that reads the messages of a thread',
    body: start,
    answers: { 200: { body: z.object({ agent_run_id: text, status: text }) } },
  },
  listSunaRuns: {
    method: 'GET',
    path: '/suna/api/thread/{thread_id}/agent-runs',
    client: 'read',
    summary: 'List the runs of a thread, newest first',
    answers: { 200: { body: z.object({ agent_runs: z.array(runRow) }) } },
  },
  getSunaRun: {
    method: 'GET',
    path: '/suna/api/agent-run/{run_id}',
    client: 'read',
    summary: 'Read a run',
    answers: { 200: { body: run } },
  },
  watchSunaRun: {
    method: 'GET',
    path: '/suna/api/agent-run/{run_id}/stream',
    client: 'read',
    summary: 'Read the events of a run from the first one on',
    query: z.strictObject({ token: z.string().optional() }),
    answers: { 200: { description: 'Rows of Suna.', events: z.unknown() } },
  },
  stopSunaRun: {
    method: 'POST',
    path: '/suna/api/agent-run/{run_id}/stop',
    client: 'send',
    summary: 'Stop a run',
    audit: 'run.stop',
    body: z.strictObject({}),
    answers: { 200: { body: z.object({ status: text }) } },
  },
} satisfies Record<string, RouteDefinition>);
