import { type DeltaType, deltaEvent, factSchemas } from '@rondo/contract';
import { z } from 'zod';
import { logGap, runSnapshot } from '../runs/run.dto';

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
];

type EventSchema = z.ZodObject<{ type: z.ZodLiteral<string> }>;

/** `tool.call_delta` becomes `ToolCallDelta`. */
export const pascalCase = (type: string): string =>
  type.replaceAll(/(?:^|[._])(\w)/g, (_, first: string) => first.toUpperCase());

const byName = (schemas: readonly EventSchema[]): Record<string, EventSchema> =>
  Object.fromEntries(schemas.map((schema) => [pascalCase(schema.shape.type.value), schema]));

const unionOf = ([first, ...rest]: readonly EventSchema[]) => {
  if (!first) throw new Error('a union needs members');
  return z.discriminatedUnion('type', [first, ...rest]);
};

const facts: readonly EventSchema[] = factSchemas;
const runEvent = unionOf([...facts, ...deltas]);
export const streamEvent = unionOf([...facts, ...deltas, ...notices]);

/** One schema per fact, delta and notice, and the unions of them. */
export const eventSchemas: Readonly<Record<string, z.ZodType>> = {
  ...byName([...facts, ...deltas, ...notices]),
  RunEvent: runEvent,
  StreamEvent: streamEvent,
};
