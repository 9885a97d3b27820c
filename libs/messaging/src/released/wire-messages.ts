import { deltaEvent, mcpDiscovery, mcpPromptAnswer, recordedFact } from '@rondo/contract';
import { z } from 'zod';
import { toTraffic } from '../connection/permissions';
import { signals } from '../connection/signals';
import { queues } from '../queues/queues';
import { signOfLife } from '../queues/signs-of-life';
import { mcpDiscoverRequest, mcpListRequest, mcpPromptRequest } from '../tool-calls/mcp-requests';
import { mcpTokenAnswer, mcpTokenQuestion } from '../tool-calls/mcp-token-requests';
import {
  adoptionAnswer,
  adoptionRequest,
  endAnswer,
  endRequest,
  removalAnswer,
  removalRequest,
} from '../tool-calls/sandbox-requests';
import { secretAnswer, secretQuestion } from '../tool-calls/secret-requests';
import { skillAnswer, skillQuestion } from '../tool-calls/skill-requests';
import { hostingAnswer, hostingRequest } from '../tool-calls/workspace-hosting';
import { announcement } from '../tool-calls/open-executors';
import { tunnelAnswer, tunnelRequest } from '../tunnels/executor-tunnels';
import { sandboxRequest } from '../tunnels/sandbox-protocol';
import { dispatchedCall, toolCancel, toolProgress, toolReply } from '../tool-calls/wire-format';

type Subjects = ReturnType<typeof toTraffic>;
type Kind = keyof Subjects | 'runJobs' | 'compactionJobs';

interface Wire {
  readonly schema: z.ZodType;
  readonly answer?: z.ZodType;
}

/**
 * Every message between services, and the schema it is parsed with. Services of two successive versions run side by side,
 * so each schema is compared with the previous version's; a subject that is missing here does not compile.
 */
const wire = {
  runEvents: { schema: z.union([recordedFact, deltaEvent]) },
  threadRuns: { schema: z.literal('') },
  workAhead: { schema: z.literal('') },
  toolCalls: { schema: dispatchedCall },
  toolAsk: { schema: dispatchedCall },
  toolTakers: { schema: z.string() },
  toolResults: { schema: toolReply },
  toolNews: { schema: toolProgress },
  toolCancel: { schema: toolCancel },
  executorOpen: { schema: announcement },
  signOfLife: { schema: signOfLife },
  sandboxEnd: { schema: endRequest, answer: endAnswer },
  sandboxForget: { schema: removalRequest, answer: removalAnswer },
  sandboxAdopt: { schema: adoptionRequest, answer: adoptionAnswer },
  sandboxThreads: { schema: hostingRequest, answer: hostingAnswer },
  secretAsk: { schema: secretQuestion, answer: secretAnswer },
  skillAsk: { schema: skillQuestion, answer: skillAnswer },
  mcpList: { schema: mcpListRequest, answer: mcpDiscovery },
  mcpDiscover: { schema: mcpDiscoverRequest, answer: mcpDiscovery },
  mcpPrompts: { schema: mcpPromptRequest, answer: mcpPromptAnswer },
  mcpToken: { schema: mcpTokenQuestion, answer: mcpTokenAnswer },
  sandboxOpen: { schema: tunnelRequest.extend({ request: sandboxRequest }), answer: tunnelAnswer },
  sandboxUp: { schema: z.string() }, // frames of bytes, see tunnel-frame
  sandboxDown: { schema: z.string() },
  stop: { schema: signals.stop.payload },
  steer: { schema: signals.steer.payload },
  live: { schema: signals.live.payload, answer: signals.live.answer },
  place: { schema: signals.place.payload, answer: signals.place.answer },
  runJobs: { schema: queues.runs.job },
  compactionJobs: { schema: queues.compactions.job },
} as const satisfies Record<Kind, Wire>;

/** Where a message is sent: a subject with wildcards, a queue, or `answer to …` the kind of a request. */
const places: Readonly<Record<Kind, string>> = {
  ...(Object.fromEntries(Object.entries(toTraffic('*')).map(([kind, { subject }]) => [kind, subject])) as Record<
    keyof Subjects,
    string
  >), // has every key of Subjects
  runJobs: `queue ${queues.runs.name}`,
  compactionJobs: `queue ${queues.compactions.name}`,
};

export interface WireMessage {
  readonly sentTo: string;
  readonly schema: z.ZodType;
}

/** All messages, with each answer as a message of its own. */
export const wireMessages: Readonly<Record<string, WireMessage>> = Object.fromEntries(
  (Object.entries(wire) as [Kind, Wire][]).flatMap(([kind, { schema, answer }]): [string, WireMessage][] => [
    [kind, { sentTo: places[kind], schema }],
    ...(answer ? [[`${kind}Answer`, { sentTo: `answer to ${kind}`, schema: answer }] as [string, WireMessage]] : []),
  ]),
);

/**
 * The schema of a message as JSON Schema. The feed checks only the envelope of an event, see receivedEvent, so the API's
 * refusal of unknown fields in an image does not apply to it.
 */
export const toStructure = (kind: string, { schema }: WireMessage): object =>
  z.toJSONSchema(schema, {
    io: 'input',
    override: ({ jsonSchema }) => {
      if (jsonSchema.format !== undefined) delete jsonSchema.pattern;
      if (kind === 'runEvents' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
    },
  });

/** The structures that `npm run record-release` records. */
export const wireStructures = (): Record<string, { sentTo: string; schema: object }> =>
  Object.fromEntries(
    Object.entries(wireMessages).map(([kind, message]) => [
      kind,
      { sentTo: message.sentTo, schema: toStructure(kind, message) },
    ]),
  );
