import { z } from 'zod';
import { flawsBetween } from './schema-changes';

const before = z.object({
  call_id: z.string(),
  attempt: z.number().int().positive(),
  reason: z.string().nullable(),
  store: z.string().exactOptional(),
  kind: z.enum(['a', 'b']),
  tools: z.array(z.object({ name: z.string().max(100) })),
  reply: z.discriminatedUnion('how', [
    z.object({ how: z.literal('answered'), duration_ms: z.number() }),
    z.object({ how: z.literal('unknown'), reason: z.string() }),
  ]),
  more: z.record(z.string(), z.unknown()),
});
const answered = z.object({ how: z.literal('answered'), duration_ms: z.number() });
const unknown = z.object({ how: z.literal('unknown'), reason: z.string() });

const createSchema = (schema: z.ZodType) => z.toJSONSchema(schema, { io: 'input' });
const listFlaws = (now: z.ZodType) => flawsBetween(createSchema(before), createSchema(now));

describe('flawsBetween', () => {
  it.each<[string, z.ZodType]>([
    ['nothing', before],
    ['an optional field that is added', before.extend({ thread_id: z.string().exactOptional() })],
    ['a field with a default that is added', before.extend({ thread_id: z.string().default('none') })],
    ['a required field that becomes optional', before.extend({ call_id: z.string().exactOptional() })],
    ['an optional field that is removed', before.omit({ store: true })],
    ['a number that need not be whole any more', before.extend({ attempt: z.number().positive() })],
    ['a bound that is removed', before.extend({ attempt: z.number().int().nonnegative() })],
    ['a field that may be null now', before.extend({ call_id: z.string().nullable() })],
    ['a value that is read for the first time', before.extend({ kind: z.enum(['a', 'b', 'c']) })],
    [
      'a case that is read for the first time',
      before.extend({
        reply: z.discriminatedUnion('how', [answered, unknown, z.object({ how: z.literal('stopped') })]),
      }),
    ],
  ])('lets pass %s', (_, now) => {
    expect(listFlaws(now)).toEqual([]);
  });

  it.each<[string, z.ZodType, string]>([
    [
      'a required field that is added',
      before.extend({ thread_id: z.string() }),
      'message.thread_id: is required now; the version before may not send it: make it optional',
    ],
    [
      'an optional field that becomes required',
      before.extend({ store: z.string() }),
      'message.store: is required now; the version before may not send it: make it optional',
    ],
    [
      'a required field that is removed',
      before.omit({ call_id: true }),
      'message.call_id: is gone; the version before requires it: make it optional and go on sending it',
    ],
    [
      'a required field that is added deep inside',
      before.extend({ tools: z.array(z.object({ name: z.string().max(100), pid: z.number() })) }),
      'message.tools[].pid: is required now; the version before may not send it: make it optional',
    ],
    [
      'a required field of one case that is removed',
      before.extend({ reply: z.discriminatedUnion('how', [answered, unknown.omit({ reason: true })]) }),
      'message.reply.reason: is gone; the version before requires it: make it optional and go on sending it',
    ],
    [
      'an object that refuses what it does not know',
      before.extend({ tools: z.array(z.strictObject({ name: z.string().max(100) })) }),
      'message.tools[]: refuses unknown fields; the next version could add none',
    ],
    ['another type', before.extend({ call_id: z.number() }), 'message.call_id: is of type number now'],
    [
      'a field that may not be null any more',
      before.extend({ reason: z.string() }),
      'message.reason: is of type string',
    ],
    ['a type where there was none', before.extend({ more: z.record(z.string(), z.string()) }), 'message.more.*: is of'],
    ['a value that is no longer read', before.extend({ kind: z.enum(['a']) }), 'message.kind: refuses b now'],
    ['a case that is no longer read', before.extend({ reply: answered }), 'message.reply.how: refuses unknown now'],
    ['a higher bound', before.extend({ attempt: z.number().int().min(2) }), 'message.attempt: has a narrower minimum'],
    [
      'a text that must be shorter',
      before.extend({ tools: z.array(z.object({ name: z.string().max(10) })) }),
      'message.tools[].name: has a narrower maxLength',
    ],
    ['a text of a form', before.extend({ call_id: z.iso.datetime() }), 'message.call_id: has a narrower'],
  ])('reports %s, and what to do', (_, now, flaw) => {
    const flaws = listFlaws(now);

    expect(flaws).not.toEqual([]);
    expect(flaws.join('\n')).toContain(flaw);
  });
});
