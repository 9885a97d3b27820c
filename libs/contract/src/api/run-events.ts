import { z } from 'zod';
import { forkOrigin } from '../fork';
import { coverage, message } from '../message';
import { run } from '../run';
import { type DeltaType, compactionReason, deltaEvent, factSchemas, recordedFact } from '../run-event';
import { exampleIds as ids } from './example-ids';
import { nameOptions } from './option-names';
import { type ApiSchemas, defineRoutes } from './route';

/** The largest value of the column; no log has more facts. */
export const greatestSeq = 2 ** 31 - 1;
const seq = z.coerce.number().int().min(0).max(greatestSeq);

const eventQuery = z.strictObject({
  after: seq.default(0).describe('Facts with a greater seq.'),
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(1000)
    .default(200)
    .describe('A page of long facts has fewer: read on until `head_seq`.'),
});

const logGap = z.object({ from: z.number().int(), to: z.number().int(), reason: z.literal('retention') });
const runSnapshot = z.object({ through_seq: z.number().int(), run, messages: z.array(message) });

const rewindText =
  'Where the database was replaced by one that may lack the last facts: a fact that you hold from `from` on with an epoch below `epoch` is not in the log.';

/** Where the database was replaced: what a reader holds from `from` on with an epoch below `epoch` is not in the log. */
const rewind = z.object({ from: z.number().int(), epoch: z.number().int() });

const eventPage = z.object({
  data: z.array(recordedFact),
  head_seq: z.number().int(),
  gap: logGap.optional().describe('Requested facts that retention has removed.'),
  snapshot: runSnapshot.optional().describe('With a gap: the current run, and the last messages of its dialogue.'),
  rewinds: z.array(rewind).exactOptional().describe(rewindText),
});

const logVerification = z.object({
  first: z.number().int().nullable(),
  last: z.number().int().nullable(),
  count: z.number().int(),
  head_seq: z.number().int().exactOptional().describe('The last fact that the run has written.'),
  contiguous: z
    .boolean()
    .describe('No fact is missing, from the first that retention has not removed to `head_seq`, and none was added.'),
  hash: z.string(),
  trimmed: z
    .object({ through: z.number().int(), hash: z.string() })
    .optional()
    .describe('Where retention has removed facts: the last of them, and the hash chain up to there.'),
  rewinds: z.array(rewind).exactOptional().describe(rewindText),
  differences: z
    .array(z.string())
    .exactOptional()
    .describe(
      'Where the run, its messages, tool calls or usage entries say something else than the log, a sentence each. Absent where none does.',
    ),
  forked_from: forkOrigin
    .extend({ holds: z.boolean().nullable() })
    .exactOptional()
    .describe(
      'Of a fork: whether the log of its origin still has that hash there. Null if the origin or its facts are gone.',
    ),
});

/** The data of each delta. Parsing does not check it, since that would cost time on the hot path. */
const deltaData = {
  'message.delta': z.object({ text: z.string() }),
  'reasoning.delta': z.object({ text: z.string() }),
  'tool.call_delta': z.object({ arguments_text: z.string(), name: z.string().optional() }),
  'tool.output': z.object({ text: z.string(), stream: z.enum(['stdout', 'stderr']).optional() }),
} as const satisfies Record<DeltaType, z.ZodType>;

const deltaTypes = Object.keys(deltaData) as DeltaType[]; // the keys of an object literal are exactly its type's keys

const deltas = deltaTypes.map((type) => deltaEvent.extend({ type: z.literal(type), data: deltaData[type] }));

const noticeEnvelope = deltaEvent.omit({ after_seq: true, stream_id: true, offset: true });

const notices = [
  noticeEnvelope.extend({ type: z.literal('stream.gap'), data: logGap }),
  noticeEnvelope.extend({ type: z.literal('stream.snapshot'), data: runSnapshot }),
  /** What the reader holds from this seq on is not in the log; the facts that are follow. */
  noticeEnvelope.extend({ type: z.literal('stream.rewound'), data: z.object({ from: z.number().int().positive() }) }),
];

type EventSchema = z.ZodObject<{ type: z.ZodLiteral<string> }>;

const createUnion = ([first, ...rest]: readonly EventSchema[]) => {
  if (!first) throw new Error('a union needs members');
  return z.discriminatedUnion('type', [first, ...rest]);
};

const facts: readonly EventSchema[] = factSchemas;
export const streamEvent = createUnion([...facts, ...deltas, ...notices]);

/** The log of a run, as it is and as it grows. Its facts were parsed when they were appended. */
export const runEvents = defineRoutes('runs', {
  listRunEvents: {
    method: 'GET',
    path: '/v1/runs/{run_id}/events',
    client: 'read',
    summary: "Read a run's facts in order",
    query: eventQuery,
    answers: { 200: { body: eventPage, isParsed: false } },
  },
  verifyRunEvents: {
    method: 'GET',
    path: '/v1/runs/{run_id}/events/verify',
    client: 'read',
    summary: "Prove that a run's log is complete, and that what is shown of the run follows from it",
    answers: { 200: { body: logVerification } },
  },
  streamRunEvents: {
    method: 'GET',
    path: '/v1/runs/{run_id}/stream',
    client: 'read',
    summary: "Stream a run's events as server-sent events, to its end",
    description:
      'Each event has its type as `event`, a `StreamEvent` as `data`, and a fact has its seq as `id`, with its epoch behind a dot where the database was replaced before.',
    query: z.strictObject({
      after: seq.optional().describe('`Last-Event-ID` wins over it.'),
      after_epoch: seq.optional().describe('The epoch of that fact: it tells whether the log still has it.'),
    }),
    headers: { 'Last-Event-ID': { description: 'Facts up to this seq are not sent.' } },
    answers: {
      200: { events: streamEvent },
      204: { description: 'The run is terminal, and `Last-Event-ID` was its last event.' },
    },
    problems: ['invalid_cursor', 'too_many_connections'],
  },
});

/** What all events of a run have. */
const envelope = {
  id: ids.event,
  v: 1,
  run_id: ids.run,
  thread_id: ids.thread,
  iteration: 2,
  epoch: 1,
  at: '2026-11-25T09:00:07.480Z',
};

const completed = {
  ...envelope,
  seq: 17,
  type: 'run.completed',
  data: {
    finish_reason: 'stop',
    usage: { input_tokens: 4812, cached_tokens: 3072, output_tokens: 391, cost_usd: 0.0063 },
  },
};

export const runEventSchemas: ApiSchemas = {
  answers: {
    Fact: recordedFact,
    ...nameOptions([...facts, ...deltas, ...notices]),
    RunEvent: createUnion([...facts, ...deltas]),
    StreamEvent: streamEvent,
    EventPage: eventPage,
    LogGap: logGap,
    RunSnapshot: runSnapshot,
    LogRewind: rewind,
    LogVerification: logVerification,
    MessageRange: coverage,
    CompactionReason: compactionReason,
  },
  examples: {
    EventPage: { data: [completed], head_seq: 17 },
    StreamEvent: {
      ...envelope,
      seq: null,
      type: 'message.delta',
      after_seq: 14,
      stream_id: ids.answer,
      offset: 12,
      data: { text: 'It printed ' },
    },
    LogVerification: {
      first: 1,
      last: 17,
      count: 17,
      head_seq: 17,
      contiguous: true,
      hash: 'a3f5d1c98b7e6042f1d3b5a7c9e8f60214365870a9cbed0f1234567890abcdef',
    },
  },
};
