import { z } from 'zod';
import { metadata } from '../metadata';
import { type RouteDefinition, defineRoutes } from '../route';
import { refuseFields } from './coverage';
import { langGraphCoverage } from './langgraph-coverage';

const { requests: covered } = langGraphCoverage;
const runCoverage = covered['POST /threads/{id}/runs'];

const name = z.string().min(1).max(200);

/** What a client stores with a thread or a run. It sends null for what it has not. */
const givenMetadata = z
  .record(z.string(), z.unknown())
  .nullish()
  .transform((entries) =>
    Object.fromEntries(Object.entries(entries ?? {}).filter(([, value]) => value !== null && value !== undefined)),
  )
  .pipe(metadata);

export const langGraphStreamMode = z.enum(['values', 'messages-tuple', 'updates', 'custom'], {
  error: ({ input }) =>
    `${JSON.stringify(input)} is not served: use values, messages-tuple, updates or custom; events of an agent are at /v1/runs/{id}/stream`,
});
export type LangGraphStreamMode = z.infer<typeof langGraphStreamMode>;

const streamModes = z
  .union([z.string(), z.array(z.string()), z.null()])
  .optional()
  .transform((given) => (given === undefined || given === null || given.length === 0 ? ['values'] : [given].flat()))
  .pipe(z.array(langGraphStreamMode).max(20));

/** As a query has it: repeated, or as JSON. */
const streamModeQuery = z
  .union([z.string(), z.array(z.string())])
  .optional()
  .transform((given) => {
    const texts = [given ?? []].flat().flatMap((text) => (text.startsWith('[') ? readList(text) : [text]));
    return texts.length === 0 ? ['values'] : [...new Set(texts)];
  })
  .pipe(z.array(langGraphStreamMode).max(20));

function readList(text: string): unknown[] {
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) ? list : [text];
  } catch {
    return [text];
  }
}

/** A client that comes back to a stream repeats what its address has already. */
const flag = z
  .union([z.string(), z.array(z.string())])
  .optional()
  .transform((given) => [given ?? []].flat().some((text) => text === '1' || text === 'true'));

/** Which fields of an answer are wanted. A part of the state stands for the whole of it. */
const select = z.array(z.string().max(100)).max(50).nullish();

const noContext = (why: string) =>
  z.never({ error: ({ input }) => `${JSON.stringify(input)} is not served: ${why}` }).optional();

const configurable = z
  .object({ model: z.string().min(1).max(200).nullish(), thread_id: z.string().nullish() })
  .catchall(noContext('use a stored agent'));

const config = z
  .strictObject({
    configurable: configurable.nullish(),
    recursion_limit: z.number().int().min(1).nullish(),
    tags: z.array(z.string()).max(0, 'is not served: use metadata').nullish(),
    metadata: z.record(z.string(), z.unknown()).nullish(),
    run_name: z.string().nullish(),
  })
  .nullish();

/** LangChain's messages are read by the façade, since there are many forms of them. */
const input = z
  .looseObject({ messages: z.unknown().optional() })
  .superRefine((given, context) => {
    for (const key of Object.keys(given))
      if (key !== 'messages')
        context.addIssue({ code: 'custom', path: [key], message: 'is not served: only messages are' });
  })
  .nullish();

const noJumps = {
  goto: { why: 'an agent of Rondo is no graph: its loop has no nodes to go to' },
  update: { why: 'the state follows from the log', harmless: [{}] },
};
const command = z.strictObject({ resume: z.unknown().optional(), ...refuseFields(noJumps) }).nullish();

export const langGraphRunRequest = z.strictObject({
  assistant_id: name,
  input,
  command,
  config,
  context: z
    .object({ model: z.string().min(1).max(200).nullish() })
    .catchall(noContext('use a stored agent'))
    .nullish(),
  metadata: givenMetadata,
  stream_mode: streamModes,
  multitask_strategy: z
    .enum(['reject', 'enqueue', 'interrupt'], {
      error: ({ input: given }) =>
        `${JSON.stringify(given)} is not served: what a run has done stays in the log; use reject, enqueue or interrupt`,
    })
    .nullish(),
  checkpoint: z.looseObject({ checkpoint_id: z.string().nullish() }).nullish(),
  checkpoint_id: z.string().nullish(),
  if_not_exists: z.enum(['create', 'reject']).nullish(),
  on_disconnect: z.enum(['cancel', 'continue']).nullish(),
  stream_subgraphs: z.boolean().nullish(),
  stream_resumable: z.boolean().nullish(),
  durability: z.enum(['sync', 'async', 'exit']).nullish(),
  checkpoint_during: z.boolean().nullish(),
  strict_resume: z.boolean().nullish(),
  on_completion: z.enum(['complete', 'continue', 'keep']).nullish(),
  ...refuseFields(runCoverage.refused),
});
export type LangGraphRunRequest = z.infer<typeof langGraphRunRequest>;

/** What a client tells a thread, in the protocol in which it follows that. The gateway reads what it says by its method. */
const threadCommand = z.strictObject({
  id: z.number().int().min(0),
  method: z.string().max(100),
  params: z.record(z.string(), z.unknown()).default({}),
});
export type LangGraphCommand = z.infer<typeof threadCommand>;

const response = z.object({
  namespace: z.array(z.string()).max(0, 'is not served: there are no subgraphs').optional(),
  interrupt_id: z.string().max(300),
  response: z.unknown(),
});

/** What `input.respond` says: one answer, or several at once. */
export const langGraphResponses = z
  .strictObject({
    ...response.partial().shape,
    responses: z.array(response.strict()).min(1).max(128).optional(),
    config: z.unknown().optional(),
    metadata: z.unknown().optional(),
    strict_resume: z.unknown().optional(),
    ...refuseFields(noJumps),
  })
  .transform(
    ({ responses, interrupt_id: id, response: given }) => responses ?? [{ interrupt_id: id ?? '', response: given }],
  );

const silentChannels: readonly string[] = ['checkpoints', 'custom'];
const servedChannels = ['messages', 'values', 'lifecycle', 'tools', 'input'] as const;

const threadStream = z.strictObject({
  channels: z
    .array(
      z.string().refine((name) => [...servedChannels, ...silentChannels].includes(name) || name.startsWith('custom:'), {
        error: ({ input: name }) => `${JSON.stringify(name)} is not served: use ${servedChannels.join(', ')}`,
      }),
    )
    .min(1)
    .max(100),
  namespaces: z.array(z.array(z.string())).max(1000).nullish(),
  depth: z.number().int().min(0).nullish(),
  since: z.number().int().min(0).nullish(),
});
export type LangGraphThreadStream = z.infer<typeof threadStream>;

const pageFields = {
  limit: z.number().int().min(1).max(100).default(10),
  offset: z.number().int().min(0).default(0),
};

const cronFields = {
  /** A cron expression and a time zone as texts: the gateway, which has the libraries, checks what they say. */
  schedule: z.string().max(200),
  timezone: z.string().max(64).nullish(),
  enabled: z.boolean().nullish(),
  input,
  config,
  context: langGraphRunRequest.shape.context,
  metadata: givenMetadata,
  on_run_completed: z.literal('keep', 'is not served but as "keep": threads stay').nullish(),
  stream_mode: z.unknown().optional(),
  stream_subgraphs: z.boolean().nullish(),
  stream_resumable: z.boolean().nullish(),
  durability: z.string().nullish(),
  ...refuseFields(covered['POST /runs/crons'].refused),
};
const newCron = z.strictObject({
  ...cronFields,
  assistant_id: name,
  checkpoint_during: z.boolean().nullish(),
  multitask_strategy: z
    .enum(['enqueue', 'reject'], 'is not served but as "enqueue" or "reject": a schedule stops no run')
    .nullish(),
});
export type LangGraphNewCron = z.infer<typeof newCron>;
const cronChange = z.strictObject({ ...cronFields, metadata: z.record(z.string(), z.string()).nullish() }).partial();
export type LangGraphCronChange = z.infer<typeof cronChange>;

const cronFilter = {
  assistant_id: z.string().nullish(),
  thread_id: z.string().nullish(),
  metadata: z.record(z.string(), z.unknown()).nullish(),
};
const cronSearch = z.strictObject({
  ...cronFilter,
  enabled: z.boolean().nullish(),
  ...pageFields,
  sort_by: z.enum(['cron_id', 'assistant_id', 'thread_id', 'created_at', 'updated_at', 'next_run_date']).nullish(),
  sort_order: z.enum(['asc', 'desc']).nullish(),
  select,
});
export type LangGraphCronSearch = z.infer<typeof cronSearch>;

const threadStatus = z.enum(['idle', 'busy', 'interrupted', 'error']);
export type LangGraphThreadStatus = z.infer<typeof threadStatus>;

const threadRequest = z.strictObject({
  thread_id: name.nullish(),
  if_exists: z.enum(['raise', 'do_nothing']).nullish(),
  metadata: givenMetadata,
  ...refuseFields(covered['POST /threads'].refused),
});

const filter = {
  metadata: z.record(z.string(), z.unknown()).nullish(),
  status: threadStatus.nullish(),
  ...refuseFields(covered['POST /threads/search'].refused),
};
const newestFirst = {
  sort_by: z
    .enum(['created_at', 'updated_at', 'state_updated_at', 'thread_id'], 'is not served: only created_at is')
    .nullish(),
  sort_order: z.literal('desc', 'is not served: lists are newest first').nullish(),
};

const threadSearch = z.strictObject({
  ...filter,
  ids: z.array(name).max(100).nullish(),
  ...pageFields,
  ...newestFirst,
  select,
});
export type LangGraphThreadSearch = z.infer<typeof threadSearch>;
const threadCount = z.strictObject(filter);

const assistantFilter = {
  graph_id: z.string().nullish(),
  name: z.string().nullish(),
  ...refuseFields({ metadata: { why: 'agents have tags: search for them at `/v1/agents`', harmless: [{}] } }),
};
const assistantSearch = z.strictObject({
  ...assistantFilter,
  ...pageFields,
  sort_by: z.enum(['assistant_id', 'graph_id', 'name', 'created_at', 'updated_at']).nullish(),
  sort_order: z.enum(['asc', 'desc']).nullish(),
  select,
});
export type LangGraphAssistantSearch = z.infer<typeof assistantSearch>;

const checkpoint = z.looseObject({ checkpoint_id: z.string() });
const historyRequest = z.strictObject({
  limit: z.number().int().min(1).max(100).default(10),
  before: z.union([z.string(), checkpoint, z.looseObject({ configurable: checkpoint })]).nullish(),
  select,
  ...refuseFields(covered['POST /threads/{id}/history'].refused),
});
export type LangGraphHistoryRequest = z.infer<typeof historyRequest>;

const stateChange = z.strictObject({
  values: input,
  ...refuseFields({
    checkpoint: { why: 'a thread goes on from where it is' },
    checkpoint_id: { why: 'a thread goes on from where it is' },
    as_node: { why: 'an agent of Rondo is no graph' },
  }),
});
export type LangGraphStateChange = z.infer<typeof stateChange>;

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

const search = { method: 'POST', role: 'reader', storesAnswer: false, answers: json } as const;
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
    storesAnswer: false,
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
    params: ofThread,
    body: z.strictObject({ metadata: givenMetadata, ...refuseFields({ ttl: covered['POST /threads'].refused.ttl }) }),
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
    storesAnswer: false,
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
    storesAnswer: false,
    answers: json,
  },
  followLangGraphThread: {
    method: 'POST',
    path: '/langgraph/threads/{outer_thread_id}/stream/events',
    summary: 'Follow a thread',
    role: 'reader',
    params: ofThread,
    body: threadStream,
    storesAnswer: false,
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
      checkpoint_id: z.never('is not served: give Last-Event-ID').optional(),
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
    storesAnswer: false,
    answers: { 204: {} },
  },
  createLangGraphCron: {
    method: 'POST',
    path: '/langgraph/runs/crons',
    summary: 'Create a schedule',
    audit: 'schedule.create',
    body: newCron,
    storesAnswer: false,
    answers: json,
  },
  createLangGraphThreadCron: {
    method: 'POST',
    path: '/langgraph/threads/{outer_thread_id}/runs/crons',
    summary: 'Create a schedule of runs on a thread',
    audit: 'schedule.create',
    params: ofThread,
    body: newCron,
    storesAnswer: false,
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
