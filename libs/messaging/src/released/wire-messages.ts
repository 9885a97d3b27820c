import { deltaEvent, recordedFact } from '@rondo/contract';
import { z } from 'zod';
import { trafficOf } from '../connection/permissions';
import { signals } from '../connection/signals';
import { queues } from '../queues/queues';
import { endAnswer, endRequest } from '../tool-calls/end-run';
import { forgetAnswer, forgetRequest } from '../tool-calls/remove-workspace';
import { announcement } from '../tool-calls/open-executors';
import { dispatchedCall, toolCancel, toolProgress, toolReply } from '../tool-calls/tool-wire';

type Subjects = ReturnType<typeof trafficOf>;
type Kind = keyof Subjects | 'runJobs' | 'compactionJobs';

interface Wire {
  readonly schema: z.ZodType;
  readonly answer?: z.ZodType;
}

/**
 * What services tell each other, and how it is read. Services of neighbouring versions run side by side, so each of these is
 * compared with the version before; a subject that is missing here does not compile.
 */
const wire = {
  runEvents: { schema: z.union([recordedFact, deltaEvent]) },
  toolCalls: { schema: dispatchedCall },
  toolAsk: { schema: dispatchedCall },
  toolTakers: { schema: z.string() },
  toolResults: { schema: toolReply },
  toolNews: { schema: toolProgress },
  toolCancel: { schema: toolCancel },
  executorOpen: { schema: announcement },
  sandboxEnd: { schema: endRequest, answer: endAnswer },
  sandboxForget: { schema: forgetRequest, answer: forgetAnswer },
  stop: { schema: signals.stop.payload },
  live: { schema: signals.live.payload, answer: signals.live.answer },
  place: { schema: signals.place.payload, answer: signals.place.answer },
  runJobs: { schema: queues.runs.job },
  compactionJobs: { schema: queues.compactions.job },
} as const satisfies Record<Kind, Wire>;

/** A subject with a token or more left open, a queue, or `answer to …` the kind of a request. */
const places: Readonly<Record<Kind, string>> = {
  ...(Object.fromEntries(Object.entries(trafficOf('*')).map(([kind, { subject }]) => [kind, subject])) as Record<
    keyof Subjects,
    string
  >), // each of its keys is there
  runJobs: `queue ${queues.runs.name}`,
  compactionJobs: `queue ${queues.compactions.name}`,
};

export interface WireMessage {
  readonly sentTo: string;
  readonly schema: z.ZodType;
}

/** All of it, with the answers as messages of their own. */
export const wireMessages: Readonly<Record<string, WireMessage>> = Object.fromEntries(
  (Object.entries(wire) as [Kind, Wire][]).flatMap(([kind, { schema, answer }]): [string, WireMessage][] => [
    [kind, { sentTo: places[kind], schema }],
    ...(answer ? [[`${kind}Answer`, { sentTo: `answer to ${kind}`, schema: answer }] as [string, WireMessage]] : []),
  ]),
);

/**
 * What may be said, as JSON Schema. Facts are read by their envelope alone, see receivedEvent: that the API takes no unknown
 * fields in an image is of no matter there.
 */
export const structureOf = (kind: string, { schema }: WireMessage): object =>
  z.toJSONSchema(schema, {
    io: 'input',
    override: ({ jsonSchema }) => {
      if (jsonSchema.format !== undefined) delete jsonSchema.pattern;
      if (kind === 'runEvents' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
    },
  });

/** What `npm run record-release` writes down. */
export const wireStructures = (): Record<string, { sentTo: string; schema: object }> =>
  Object.fromEntries(
    Object.entries(wireMessages).map(([kind, message]) => [
      kind,
      { sentTo: message.sentTo, schema: structureOf(kind, message) },
    ]),
  );
