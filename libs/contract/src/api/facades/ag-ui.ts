import { z } from 'zod';
import { requestedModel } from '../../model';
import { metadataValue } from '../metadata';
import { type RouteDefinition, defineRoutes } from '../route';
import { type FacadeCoverage, refuseFields } from './coverage';

/** What Rondo serves of AG-UI. */
export const agUiCoverage = {
  path: '/ag-ui',
  routes: {
    'POST /': 'a run that names no agent',
    'POST /{agent}':
      'the same with a [stored agent](../agents.md), by its name or its id, or with a model, also by its alias',
  },
  refusedRoutes: {
    '* /{agent}/connect': 'send the `runId` again, which takes its run up',
  },
  requests: {
    'POST /': {
      served: {
        threadId: 'yours, or the id of a thread of `/v1`',
        runId: 'yours. Sent again it takes the run up; the id of a run of `/v1` does so, too',
        messages:
          'the newest messages of the user, and results of your tools. The thread has what came before. Those of `system` and `developer` are [instructions](../facades.md#agents-models-and-instructions) of the run',
        tools: '[tools of the caller](../caller-tools.md)',
        context: 'the model reads it before the message of the user',
        resume: 'answers to interrupts: each that is pending has to be named',
        protocolVersion: 'without it no outcome is sent but `interrupt`',
        metadata: 'of tools, messages and answers: is not read',
      },
      refused: {
        state: {
          why: 'runs share no state with a page; give the model what it should know as `context`',
          harmless: [{}],
        },
        parentRunId: { why: 'a thread has one line of runs' },
      },
    },
    '`forwardedProps`': {
      served: {
        model:
          'the model. Default: that of the address, else [as for all façades](../facades.md#agents-models-and-instructions)',
        on_disconnect:
          '`cancel`: closing the stream stops the run, which needs a key that may write. Default: `continue`',
      },
      refused: {
        command: { why: 'answer with `resume`' },
      },
    },
  },
} as const satisfies FacadeCoverage;

const id = z.string().min(1).max(200);
const metadata = z.unknown().optional();

/** A message as AG-UI has it. Its content is read by its role. */
const agUiMessage = z.looseObject({
  /** A run keeps that of its question. */
  id: metadataValue,
  role: z.enum(['developer', 'system', 'assistant', 'user', 'tool', 'activity', 'reasoning']),
});
export type AgUiMessage = z.infer<typeof agUiMessage>;

const tool = z.strictObject({
  name: z.string(),
  description: z.string().nullish(),
  parameters: z.record(z.string(), z.unknown()).nullish(),
  metadata,
});

const resumeEntry = z.strictObject({
  interruptId: z.string(),
  status: z.enum(['resolved', 'cancelled']),
  payload: z.unknown().optional(),
  metadata,
});
export type AgUiResumeEntry = z.infer<typeof resumeEntry>;

const forwardedProps = z.strictObject({
  model: requestedModel.optional(),
  on_disconnect: z.enum(['continue', 'cancel']).optional(),
  ...refuseFields(agUiCoverage.requests['`forwardedProps`'].refused),
});

const runRequest = z.strictObject({
  threadId: id,
  runId: id,
  messages: z.array(agUiMessage),
  tools: z.array(tool).nullish(),
  context: z.array(z.strictObject({ description: z.string(), value: z.string() })).nullish(),
  resume: z.array(resumeEntry).nullish(),
  forwardedProps: forwardedProps.nullish(),
  protocolVersion: z.string().max(20).nullish(),
  ...refuseFields(agUiCoverage.requests['POST /'].refused),
});
export type AgUiRunRequest = z.infer<typeof runRequest>;

/** A key that only reads may take a run up. */
const run = {
  method: 'POST',
  role: 'reader',
  body: runRequest,
  storesAnswer: false,
  answers: { 200: { description: 'The events of AG-UI.', events: z.unknown() } },
} as const;

/** Routes that clients of AG-UI call. They are no part of the API: their form is AG-UI's. */
export const agUi = defineRoutes('ag-ui', {
  runAgUi: { ...run, path: '/ag-ui', summary: 'Begin a run with the default agent, answer one, or take one up' },
  runAgUiAgent: {
    ...run,
    path: '/ag-ui/{agent_name}',
    summary: 'The same with a stored agent, or with a model',
    params: { agent_name: { schema: id, property: 'agentName', example: 'reviewer' } },
  },
} satisfies Record<string, RouteDefinition>);
