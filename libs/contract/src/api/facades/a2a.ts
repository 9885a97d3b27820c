import { z } from 'zod';
import { type RouteDefinition, defineRoutes } from '../route';
import { type FacadeCoverage, refuseFields } from './coverage';

const noPush = { why: 'webhooks tell of runs: `POST /v1/webhooks`' };
const older = (method: string) => ({ why: `revision 0.3 is not spoken: send \`${method}\` of 1.0` });

/** What Rondo serves of the Agent2Agent protocol. */
export const a2aCoverage = {
  path: '/a2a',
  routes: {
    'GET /.well-known/agent-card.json': 'the card of the default agent, without a key',
    'POST /': 'one request of JSON-RPC, whose task [names no agent](../facades.md#agents-models-and-instructions)',
    'GET /{agent}/.well-known/agent-card.json':
      'the card of another agent, whether or not an account has one of that name',
    'POST /{agent}':
      'the same with a [stored agent](../agents.md), by its name or its id, or with a model, also by its alias',
  },
  refusedRoutes: {},
  requests: {
    '`method` of a request': {
      served: {
        SendMessage: 'a task, or what is said to one; it is answered when the task ends or asks',
        SendStreamingMessage: 'the same with a stream',
        GetTask: 'a run as a task; its id is that of the run',
        CancelTask: 'stops the run',
        SubscribeToTask: 'the task as it stands, then what follows',
      },
      refused: {
        ListTasks: { why: '`GET /v1/runs` lists runs' },
        CreateTaskPushNotificationConfig: noPush,
        GetTaskPushNotificationConfig: noPush,
        ListTaskPushNotificationConfigs: noPush,
        DeleteTaskPushNotificationConfig: noPush,
        GetExtendedAgentCard: { why: 'there is no card but the public one' },
        'message/send': older('SendMessage'),
        'message/stream': older('SendStreamingMessage'),
        'tasks/get': older('GetTask'),
        'tasks/cancel': older('CancelTask'),
        'tasks/resubscribe': older('SubscribeToTask'),
      },
    },
    '`message`': {
      served: {
        messageId: 'yours. Sent again it is the same task',
        contextId: 'yours, or the id of a thread of `/v1`. Absent: a new one',
        taskId: 'the task that asks, or that works. Absent: a new task',
        role: '`ROLE_USER`',
        parts: 'text, data, and images as `raw`',
        metadata: 'is not read',
      },
      refused: {
        extensions: { why: 'this agent has none' },
        referenceTaskIds: { why: 'the tasks of one `contextId` know of each other' },
      },
    },
    '`configuration`': {
      served: {
        acceptedOutputModes: '`text/plain` must be one of them, if there are any',
        returnImmediately: 'the task is answered as soon as it is there',
        historyLength: 'the most messages of the history: a task has none, its thread has them',
      },
      refused: { taskPushNotificationConfig: noPush },
    },
  },
} as const satisfies FacadeCoverage;

const id = z.string().min(1).max(200);
const metadata = z.record(z.string(), z.unknown()).optional();
const historyLength = z.number().int().min(0).optional();
const tenant = z.literal('').optional();

const part = z.strictObject({
  text: z.string().optional(),
  data: z.unknown().optional(),
  raw: z.base64().optional(),
  url: z.string().optional(),
  mediaType: z.string().optional(),
  filename: z.string().optional(),
  metadata,
});
export type A2aPart = z.infer<typeof part>;

const message = z.strictObject({
  messageId: id,
  contextId: id.optional(),
  taskId: id.optional(),
  role: z.literal('ROLE_USER'),
  parts: z.array(part).min(1),
  metadata,
  ...refuseFields(a2aCoverage.requests['`message`'].refused),
});
export type A2aMessage = z.infer<typeof message>;

const outputModes = z
  .array(z.string())
  .refine((modes) => modes.length === 0 || modes.some((mode) => ['text/plain', 'text/*', '*/*'].includes(mode)), {
    message: 'must have text/plain: answers are text',
  });

const configuration = z.strictObject({
  acceptedOutputModes: outputModes.optional(),
  returnImmediately: z.boolean().optional(),
  historyLength,
  ...refuseFields(a2aCoverage.requests['`configuration`'].refused),
});

const taskRequest = z.strictObject({ tenant, id, metadata });

/** The `params` of the methods that are served. */
export const a2aParams = {
  SendMessage: z.strictObject({ tenant, message, configuration: configuration.optional(), metadata }),
  GetTask: z.strictObject({ tenant, id, historyLength }),
  CancelTask: taskRequest,
  SubscribeToTask: taskRequest,
};
export type A2aMessageParams = z.infer<typeof a2aParams.SendMessage>;

/** The envelope of JSON-RPC. */
export const a2aRequest = z.strictObject({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.number()]).nullable().optional(),
  method: z.string(),
  params: z.unknown().optional(),
});
export type A2aRequest = z.infer<typeof a2aRequest>;

const params = { agent_name: { schema: id, property: 'agentName', example: 'reviewer' } } as const;
const card = {
  method: 'GET',
  role: 'open',
  answers: { 200: { description: 'An agent card.', body: z.unknown() } },
} as const;
/** A key that only reads may follow tasks. */
const send = {
  method: 'POST',
  role: 'reader',
  body: z.unknown(),
  storesAnswer: false,
  answers: { 200: { description: 'An answer of JSON-RPC, or a stream of them.', events: z.unknown() } },
} as const;

/** Routes that clients of A2A call. They are no part of the API. */
export const a2a = defineRoutes('a2a', {
  getA2aCard: { ...card, path: '/a2a/.well-known/agent-card.json', summary: 'Read the card of the default agent' },
  getA2aAgentCard: {
    ...card,
    path: '/a2a/{agent_name}/.well-known/agent-card.json',
    summary: 'Read the card of an agent',
    params,
  },
  sendA2a: { ...send, path: '/a2a', summary: 'Send a request to the default agent' },
  sendA2aAgent: {
    ...send,
    path: '/a2a/{agent_name}',
    summary: 'The same with a stored agent, or with a model',
    params,
  },
} satisfies Record<string, RouteDefinition>);
