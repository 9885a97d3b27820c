import { runId } from '@rondo/contract';
import { parseEvent } from '../run-feed/run-feed';
import released from './released-messages.json';
import { flawsBetween } from './schema-changes';
import { toStructure, wireMessages, wireStructures } from './wire-messages';

const messages: Readonly<Record<string, { sentTo: string; schema: object; examples: readonly unknown[] }>> =
  released.messages;
const kinds = Object.keys(messages);
const examples = kinds.flatMap((kind) =>
  (messages[kind]?.examples ?? []).map((example, index) => [`${kind} ${index + 1}`, kind, example] as const),
);

const read = (kind: string, message: unknown): unknown => wireMessages[kind]?.schema.parse(message);

/** With one more field in each object, as the next version may add. */
function extended(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(extended);
  if (typeof value !== 'object' || value === null) return value;
  return { ...Object.fromEntries(Object.entries(value).map(([key, one]) => [key, extended(one)])), added_later: 'x' };
}

describe('messages of the previous version', () => {
  it.each(examples)('are parsed without change: %s', (_, kind, example) => {
    expect(read(kind, example)).toEqual(example);
  });

  /** Events of the feed are not parsed whole, only their envelope is. */
  const ofFeed = examples.filter(([, kind]) => kind === 'runEvents');
  const others = examples.filter(([, kind, example]) => kind !== 'runEvents' && typeof example === 'object');

  it.each(others)('are parsed with unknown fields: %s', (_, kind, example) => {
    expect(read(kind, extended(example))).toMatchObject(example as object);
  });

  it.each(ofFeed)('are passed on as they were sent, also with unknown fields: %s', (_, _kind, event) => {
    for (const sent of [event, extended(event)]) {
      expect(parseEvent(JSON.stringify(sent), runId.parse('run_1'))).toEqual(sent);
    }
  });
});

describe('messages between services', () => {
  it.each(kinds)('are still sent on the same subject or queue: %s', (kind) => {
    expect(wireStructures()[kind]?.sentTo).toBe(messages[kind]?.sentTo);
  });

  it.each(kinds)('have changed only in ways that the previous version accepts, and accept its messages: %s', (kind) => {
    const now = wireMessages[kind];

    expect(now && flawsBetween(messages[kind]?.schema ?? {}, toStructure(kind, now))).toEqual([]);
  });

  it('never refuse unknown fields, in new messages too', () => {
    const closed = Object.entries(wireMessages).flatMap(([kind, message]) => {
      const structure = toStructure(kind, message);
      return flawsBetween(structure, structure).map((flaw) => `${kind}: ${flaw}`);
    });

    expect(closed).toEqual([]);
  });
});
