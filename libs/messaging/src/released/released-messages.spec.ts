import { runId } from '@rondo/contract';
import { receivedEvent } from '../run-feed/received-event';
import released from './released-messages.json';
import { flawsBetween } from './schema-changes';
import { structureOf, wireMessages, wireStructures } from './wire-messages';

const messages: Readonly<Record<string, { sentTo: string; schema: object; examples: readonly unknown[] }>> =
  released.messages;
const kinds = Object.keys(messages);
const examples = kinds.flatMap((kind) =>
  (messages[kind]?.examples ?? []).map((example, index) => [`${kind} ${index + 1}`, kind, example] as const),
);

const read = (kind: string, message: unknown): unknown => wireMessages[kind]?.schema.parse(message);

/** With a field more in each object: what the version after this one may add. */
function extended(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(extended);
  if (typeof value !== 'object' || value === null) return value;
  return { ...Object.fromEntries(Object.entries(value).map(([key, one]) => [key, extended(one)])), added_later: 'x' };
}

describe('messages of the version before', () => {
  it.each(examples)('are read, and mean the same: %s', (_, kind, example) => {
    expect(read(kind, example)).toEqual(example);
  });

  /** Facts are not parsed on their way to watchers, only their envelope is. */
  const ofFeed = examples.filter(([, kind]) => kind === 'runEvents');
  const others = examples.filter(([, kind, example]) => kind !== 'runEvents' && typeof example === 'object');

  it.each(others)('are read with unknown fields: %s', (_, kind, example) => {
    expect(read(kind, extended(example))).toMatchObject(example as object);
  });

  it.each(ofFeed)('are shown as they were sent, also with unknown fields: %s', (_, _kind, event) => {
    for (const sent of [event, extended(event)]) {
      expect(receivedEvent(JSON.stringify(sent), runId.parse('run_1'))).toEqual(sent);
    }
  });
});

describe('what services tell each other', () => {
  it.each(kinds)('is still sent to the same place: %s', (kind) => {
    expect(wireStructures()[kind]?.sentTo).toBe(messages[kind]?.sentTo);
  });

  it.each(kinds)('has changed only so that the version before understands it, and is understood: %s', (kind) => {
    const now = wireMessages[kind];

    expect(now && flawsBetween(messages[kind]?.schema ?? {}, structureOf(kind, now))).toEqual([]);
  });

  it('never refuses unknown fields, also where it is new', () => {
    const closed = Object.entries(wireMessages).flatMap(([kind, message]) => {
      const structure = structureOf(kind, message);
      return flawsBetween(structure, structure).map((flaw) => `${kind}: ${flaw}`);
    });

    expect(closed).toEqual([]);
  });
});
