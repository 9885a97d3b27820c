import { z } from 'zod';
import { type RouteDefinition, defineRoutes } from '../route';
import { type FacadeCoverage, refuseFields } from './coverage';

const files = 'paths that `POST /api/upload` has answered';

/** What Rondo serves of the protocol that II-Agent had in 2025. */
export const iiAgentCoverage = {
  path: '/ii',
  routes: {
    'GET /ws':
      'the WebSocket. `?session_uuid=` names the session, else it is a new one. `?after=` the `id` of the last event that the client has. `?token=` a [client token](../users.md)',
    'GET /api/sessions/{device}': 'the newest 100 threads of the account, on whichever device they were begun',
    'GET /api/sessions/{session}/events': 'about the newest 2,000 events of a session, oldest first',
    'POST /api/upload': 'an [upload](../uploads.md), for a message that names it',
    'GET /api/settings': 'the models and the [stored agents](../agents.md) by their names',
  },
  refusedRoutes: {
    'POST /api/settings': 'models and their keys are settings of the deployment',
    '* /workspace/*': 'use `/v1/sandboxes` for files, and [previews](../previews.md) for pages',
  },
  requests: {
    'messages of the socket': {
      served: {
        init_agent: 'chooses the model or the agent of what follows',
        query: 'begins a run on the session, or answers the question of the one that waits',
        edit_query: 'replaces the newest question: its run is stopped, and another one begins',
        cancel: 'stops the active run, with everything that it has started',
        workspace_info: 'the name of the workspace, whose end is the id of the session',
        ping: '`pong`',
      },
      refused: {
        enhance_prompt: { why: 'a model is asked by runs only: send the words as a `query`' },
        review_result: { why: 'use the tool `run_agent` of a stored agent' },
      },
    },
    'content of `init_agent`': {
      served: {
        model_name:
          'a model, as `provider/model` or by its alias, with the profile `ii`; or a stored agent, by its id or its name. With a client token the agent is that of the token',
        thinking_tokens: 'from 1,024 on: how much the model may think',
        tool_args:
          '`pdf`, `browser`, `sequential_thinking` and `memory_tool` are not read: the tools are those of the profile or the agent',
      },
      refused: {
        'tool_args.deep_research': { why: 'there is no such tool', harmless: [false] },
        'tool_args.media_generation': { why: 'there is no such tool', harmless: [false] },
        'tool_args.video_generation': { why: 'there is no such tool', harmless: [false] },
        'tool_args.audio_generation': { why: 'there is no such tool', harmless: [false] },
        'tool_args.enable_reviewer': { why: 'use the tool `run_agent` of a stored agent', harmless: [false] },
      },
    },
    'content of `query` and `edit_query`': {
      served: {
        text: 'the words of the user. `/compact` and `/help` are refused: contexts are compacted by the settings of the agent',
        resume: '`false` is refused on a session that has messages: the model knows them',
        files,
      },
      refused: {},
    },
  },
} as const satisfies FacadeCoverage;

const { requests } = iiAgentCoverage;
export const iiAgentRefusedMessages = requests['messages of the socket'].refused;

const refusedTools = Object.fromEntries(
  Object.entries(requests['content of `init_agent`'].refused).map(([name, refusal]) => [
    name.replace('tool_args.', ''),
    refusal,
  ]),
);

export const iiAgentMessage = z.strictObject({
  type: z.string().max(100),
  content: z.record(z.string(), z.unknown()).default({}),
});

export const iiAgentInit = z.strictObject({
  model_name: z.string().min(1).max(200),
  thinking_tokens: z.number().int().min(0).max(1_000_000).default(0),
  tool_args: z
    .strictObject({
      pdf: z.boolean().optional(),
      browser: z.boolean().optional(),
      sequential_thinking: z.boolean().optional(),
      memory_tool: z.string().max(100).nullish(),
      ...refuseFields(refusedTools),
    })
    .default({}),
});
export type IiAgentInit = z.infer<typeof iiAgentInit>;

export const iiAgentQuery = z.strictObject({
  text: z.string().trim().min(1).max(1_000_000),
  resume: z.boolean().default(false),
  files: z.array(z.string().max(1_000)).max(20).default([]),
});
export type IiAgentQuery = z.infer<typeof iiAgentQuery>;

const sessionName = z.string().min(1).max(200);

/** What the address of the socket says. */
export const iiAgentAddress = z.strictObject({
  device_id: z.string().max(200).optional(),
  session_uuid: sessionName.optional(),
  after: z.string().max(40).optional(),
  token: z.string().optional(),
});

const event = z.object({
  id: z.string(),
  session_id: z.string(),
  timestamp: z.string(),
  event_type: z.string(),
  event_payload: z.object({ type: z.string(), content: z.record(z.string(), z.unknown()) }),
  workspace_dir: z.string(),
});
export type IiAgentEvent = z.infer<typeof event>;

const session = z.object({
  id: z.string(),
  workspace_dir: z.string(),
  created_at: z.string(),
  device_id: z.string(),
  name: z.string(),
});

const upload = z.strictObject({
  session_id: sessionName,
  file: z.strictObject({ path: z.string().min(1).max(1_000), content: z.string() }),
});
export type IiAgentUpload = z.infer<typeof upload>;

const deviceParam = { schema: sessionName, property: 'deviceId', example: 'device-1' } as const;
const sessionParam = { schema: sessionName, property: 'sessionName', example: 'session-1' } as const;

/** Routes that the front end of II-Agent calls. They are no part of the API: their form is II-Agent's. */
export const iiAgent = defineRoutes('ii-agent', {
  openIiAgentSocket: {
    method: 'GET',
    path: '/ii/ws',
    summary: 'Open the socket. What is no WebSocket is refused',
    query: iiAgentAddress,
    answers: { 200: {} },
  },
  listIiAgentSessions: {
    method: 'GET',
    path: '/ii/api/sessions/{device_id}',
    summary: 'List sessions, newest first',
    params: { device_id: deviceParam },
    answers: { 200: { body: z.object({ sessions: z.array(session) }) } },
  },
  listIiAgentEvents: {
    method: 'GET',
    path: '/ii/api/sessions/{outer_thread_id}/events',
    summary: 'List the events of a session, oldest first',
    params: { outer_thread_id: sessionParam },
    answers: { 200: { body: z.object({ events: z.array(event) }) } },
  },
  uploadIiAgentFile: {
    method: 'POST',
    path: '/ii/api/upload',
    summary: 'Upload a file',
    body: upload,
    answers: {
      200: { body: z.object({ message: z.string(), file: z.object({ path: z.string(), saved_path: z.string() }) }) },
    },
  },
  getIiAgentSettings: {
    method: 'GET',
    path: '/ii/api/settings',
    summary: 'List what a session can be begun with',
    answers: {
      200: {
        body: z.object({
          llm_configs: z.record(z.string(), z.object({ model: z.string(), api_type: z.string(), api_key: z.null() })),
          llm_api_key_set: z.boolean(),
          search_api_key_set: z.boolean(),
        }),
      },
    },
  },
} satisfies Record<string, RouteDefinition>);
