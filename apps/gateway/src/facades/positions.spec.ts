import type { DeltaEvent, RecordedFact } from '@rondo/contract';
import fc from 'fast-check';
import type { SubscriberEvent } from '../live/stream-notices';
import {
  type Position,
  type PositionedEvent,
  PositionedReader,
  comparePositions,
  readInteger,
  readPosition,
  toInteger,
  writePosition,
} from './positions';

const envelope = { v: 1, run_id: 'run_1', thread_id: 'thr_1', iteration: 1, epoch: 1, at: '2026-11-27T10:00:00.000Z' };
const text = fc.string({ minLength: 1, maxLength: 12, unit: 'binary' });
const block = fc.record({ type: fc.constantFrom('text' as const, 'reasoning' as const), text });
const reply = fc.record({
  blocks: fc.array(block, { minLength: 1, maxLength: 4 }),
  /** Facts of others, for example a stop request, after so many blocks. */
  interruptedAfter: fc.option(fc.nat(3)),
  isWithdrawn: fc.boolean(),
});
type Reply = typeof reply extends fc.Arbitrary<infer T> ? T : never;

/** How one reader gets deltas: in pieces of these lengths, and after so many pieces of a reply none. */
const cutting = fc.record({ lengths: fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1 }), most: fc.nat(20) });
type Cutting = typeof cutting extends fc.Arbitrary<infer T> ? T : never;

/** The events of a log for a reader that has the facts up to `after`. */
function eventsFor(replies: readonly Reply[], { lengths, most }: Cutting, after = 0): SubscriberEvent[] {
  const events: SubscriberEvent[] = [];
  let [seq, cuts] = [0, 0];
  const fact = (type: string, data: object) => {
    seq += 1;
    if (seq <= after) {
      if (type === 'message.created') events.length = 0; // no deltas of closed streams
      return;
    }
    events.push({ ...envelope, id: `evt_${seq}`, seq, type, data } as unknown as RecordedFact);
  };
  for (const [index, { blocks, interruptedAfter, isWithdrawn }] of replies.entries()) {
    const id = `msg_${index}`;
    fact('iteration.started', { message_id: id });
    const offsets = { text: 0, reasoning: 0 };
    let sent = 0;
    for (const [place, { type, text: whole }] of blocks.entries()) {
      for (let from = 0; from < whole.length; sent += 1) {
        const piece = whole.slice(from, from + (lengths[(cuts += 1) % lengths.length] ?? 1));
        const delta = { ...envelope, id: 'evt_d', seq: null, after_seq: seq, stream_id: id, offset: offsets[type] };
        const of = { type: type === 'text' ? 'message.delta' : 'reasoning.delta', data: { text: piece } };
        if (sent < most) events.push({ ...delta, ...of } as unknown as DeltaEvent);
        offsets[type] += piece.length;
        from += piece.length;
      }
      if (place === interruptedAfter) fact('run.stop_requested', {});
    }
    if (isWithdrawn) fact('iteration.restarted', { message_id: id });
    else fact('message.created', { message: { id, type: 'assistant', content: blocks } });
  }
  fact('run.completed', {});
  return events;
}

function read(events: readonly SubscriberEvent[], from: Position): PositionedEvent[] {
  const reader = new PositionedReader(from);
  return events.flatMap((event) => reader.read(event));
}

/** Facts by their seq, and between them the text of each reply as one. */
function joined(events: readonly PositionedEvent[]): string[] {
  const parts: string[] = [];
  let previous = '';
  for (const event of events) {
    if (event.type === 'notice') continue;
    const kind = event.type === 'fact' ? `fact ${event.fact.seq}` : `${event.type} ${event.messageId}`;
    if (event.type !== 'fact' && kind === previous) parts.push((parts.pop() ?? '') + event.text);
    else parts.push(event.type === 'fact' ? kind : `${kind} ${event.text}`);
    previous = kind;
  }
  return parts;
}

const beginning = { place: 1, seq: 0, units: 0 };
const kept = fc.array(
  reply.map((given) => ({ ...given, isWithdrawn: false, interruptedAfter: null })),
  { maxLength: 4 },
);

describe('positions', () => {
  it('let a reader come back anywhere, and get the rest once, however deltas are cut then', () => {
    fc.assert(
      fc.property(kept, cutting, cutting, fc.nat(), (replies, first, second, at) => {
        const seen = read(eventsFor(replies, first), beginning);
        const left = at % seen.length;
        const from = seen[left]?.position ?? beginning;
        const rest = read(eventsFor(replies, second, from.seq), from);
        expect(joined([...seen.slice(0, left + 1), ...rest])).toEqual(joined(seen));
      }),
    );
  });

  it('are the same for every reader after the same text', () => {
    fc.assert(
      fc.property(kept, cutting, cutting, (replies, first, second) => {
        const texts = (how: Cutting) => {
          const known = new Map<string, string>();
          const shown = new Map<string, string>();
          for (const event of read(eventsFor(replies, how), beginning)) {
            if (event.type !== 'text' && event.type !== 'reasoning') continue;
            const whole = (known.get(event.messageId) ?? '') + event.text;
            known.set(event.messageId, whole);
            shown.set(writePosition(event.position), whole);
          }
          return shown;
        };
        const [one, other] = [texts(first), texts(second)];
        for (const [position, whole] of one) expect(other.get(position) ?? whole).toBe(whole);
      }),
    );
  });

  it('rise, and every stored reply is whole before its fact', () => {
    fc.assert(
      fc.property(fc.array(reply, { maxLength: 4 }), cutting, (replies, how) => {
        const events = read(eventsFor(replies, how), beginning);
        for (const [index, { position }] of events.entries()) {
          const before = events[index - 1]?.position ?? beginning;
          expect(comparePositions(position, before)).toBeGreaterThan(0);
        }
        for (const [index, { blocks, isWithdrawn }] of replies.entries()) {
          if (isWithdrawn) continue;
          const shown = events.flatMap((event) =>
            (event.type === 'text' || event.type === 'reasoning') && event.messageId === `msg_${index}` ? [event] : [],
          );
          expect(shown.map((event) => event.text).join('')).toBe(blocks.map((each) => each.text).join(''));
        }
      }),
    );
  });

  it('are written as text and as integers, and read again', () => {
    const parts = fc.record({
      place: fc.integer({ min: 1, max: 1e6 }),
      seq: fc.nat(2 ** 31),
      units: fc.nat(2 ** 20 - 1),
    });
    fc.assert(
      fc.property(parts, ({ place, seq, units }) => {
        expect(readPosition(writePosition({ place, seq, units }))).toEqual({ place, seq, units });
        expect(readInteger(toInteger({ facts: seq, units }))).toEqual({ facts: seq, units });
        expect(Number.isSafeInteger(toInteger({ facts: seq, units }))).toBe(true);
      }),
    );
  });

  it.each(['', '1', '1.2', '0.1.1', '1.2.3.4', '1.-2.3', 'a.b.c', '1.2.99999999999'])(
    'are not read from %j',
    (given) => {
      expect(readPosition(given)).toBeUndefined();
    },
  );
});
