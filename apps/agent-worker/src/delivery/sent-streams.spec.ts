import type { Delta, RecordedFact } from '@rondo/contract';
import fc from 'fast-check';
import { SentStreams } from './run-journal';

const at = { iteration: 1, afterSeq: 4 };
const text = (streamId: string, said: string): Delta => ({ type: 'message.delta', streamId, text: said });
const fact = (type: string, data: unknown) => ({ type, data }) as RecordedFact; // only type and data are looked at

describe('SentStreams', () => {
  it('places every delta right behind the last one of its stream (I13)', () => {
    const pieces = fc.array(fc.tuple(fc.constantFrom('msg_1', 'msg_2'), fc.string({ unit: 'grapheme', minLength: 1 })));
    fc.assert(
      fc.property(pieces, (said) => {
        const streams = new SentStreams();
        const joined: Record<string, string> = {};
        for (const [streamId, piece] of said) {
          const { offset, data } = streams.extend(text(streamId, piece), at);
          expect(offset).toBe((joined[streamId] ?? '').length);
          joined[streamId] = (joined[streamId] ?? '') + String(data['text']);
        }
        expect(Object.fromEntries(streams.soFar().map((open) => [open.streamId, open.text]))).toEqual(joined);
      }),
    );
  });

  it('counts text and reasoning of one message apart', () => {
    const streams = new SentStreams();

    streams.extend({ type: 'reasoning.delta', streamId: 'msg_1', text: 'Hm.' }, at);

    expect(streams.extend(text('msg_1', 'Hi.'), at).offset).toBe(0);
  });

  it('closes a stream when the fact comes that stores it, and no other', () => {
    const streams = new SentStreams();
    streams.extend(text('msg_1', 'a'), at);
    streams.extend({ type: 'tool.output', streamId: 'call_1', text: 'b', channel: 'stderr' }, at);

    streams.supersede(fact('message.created', { message: { id: 'msg_1' } }));

    expect(streams.soFar().map(({ streamId }) => streamId)).toEqual(['call_1']);
  });

  it('forgets what a restarted iteration withdraws', () => {
    const streams = new SentStreams();
    streams.extend(text('msg_1', 'a'), at);

    streams.supersede(fact('iteration.restarted', {}));

    expect(streams.soFar()).toEqual([]);
  });
});
