import { z } from 'zod';
import { readJson } from '../../json-text';
import { metadata } from '../metadata';
import { refuseFields } from './coverage';
import { langGraphCoverage } from './langgraph-coverage';

const { requests: covered } = langGraphCoverage;
const runCoverage = covered['POST /threads/{id}/runs'];

export const name = z.string().min(1).max(200);

/** What a client stores with a thread or a run. It sends null for what it has not. */
export const givenMetadata = z
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

/** As a query has it: repeated, or as JSON. Who names none gets all, since what the run was begun with is not kept. */
export const streamModeQuery = z
  .union([z.string(), z.array(z.string())])
  .optional()
  .transform((given) => {
    const texts = [given ?? []].flat().flatMap((text) => (text.startsWith('[') ? readList(text) : [text]));
    return texts.length === 0 ? ['values', 'messages-tuple', 'updates'] : [...new Set(texts)];
  })
  .pipe(z.array(langGraphStreamMode).max(20));

function readList(text: string): unknown[] {
  const list = readJson(text);
  return Array.isArray(list) ? list : [text];
}

/** A client that comes back to a stream repeats what its address has already. */
export const flag = z
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
export const threadCommand = z.strictObject({
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

export const threadStream = z.strictObject({
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

export const pageFields = {
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
export const newCron = z.strictObject({
  ...cronFields,
  assistant_id: name,
  checkpoint_during: z.boolean().nullish(),
  multitask_strategy: z
    .enum(['enqueue', 'reject'], 'is not served but as "enqueue" or "reject": a schedule stops no run')
    .nullish(),
});
export type LangGraphNewCron = z.infer<typeof newCron>;
export const cronChange = z
  .strictObject({ ...cronFields, metadata: z.record(z.string(), z.string()).nullish() })
  .partial();
export type LangGraphCronChange = z.infer<typeof cronChange>;

export const cronFilter = {
  assistant_id: z.string().nullish(),
  thread_id: z.string().nullish(),
  metadata: z.record(z.string(), z.unknown()).nullish(),
};
export const cronSearch = z.strictObject({
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

export const threadRequest = z.strictObject({
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

export const threadSearch = z.strictObject({
  ...filter,
  ids: z.array(name).max(100).nullish(),
  ...pageFields,
  ...newestFirst,
  select,
});
export type LangGraphThreadSearch = z.infer<typeof threadSearch>;
export const threadCount = z.strictObject(filter);

export const assistantFilter = {
  graph_id: z.string().nullish(),
  name: z.string().nullish(),
  ...refuseFields({ metadata: { why: 'agents have tags: search for them at `/v1/agents`', harmless: [{}] } }),
};
export const assistantSearch = z.strictObject({
  ...assistantFilter,
  ...pageFields,
  sort_by: z.enum(['assistant_id', 'graph_id', 'name', 'created_at', 'updated_at']).nullish(),
  sort_order: z.enum(['asc', 'desc']).nullish(),
  select,
});
export type LangGraphAssistantSearch = z.infer<typeof assistantSearch>;

const checkpoint = z.looseObject({ checkpoint_id: z.string() });
export const historyRequest = z.strictObject({
  limit: z.number().int().min(1).max(100).default(10),
  before: z.union([z.string(), checkpoint, z.looseObject({ configurable: checkpoint })]).nullish(),
  select,
  ...refuseFields(covered['POST /threads/{id}/history'].refused),
});
export type LangGraphHistoryRequest = z.infer<typeof historyRequest>;

export const stateChange = z.strictObject({
  values: input,
  ...refuseFields({
    checkpoint: { why: 'a thread goes on from where it is' },
    checkpoint_id: { why: 'a thread goes on from where it is' },
    as_node: { why: 'an agent of Rondo is no graph' },
  }),
});
export type LangGraphStateChange = z.infer<typeof stateChange>;
