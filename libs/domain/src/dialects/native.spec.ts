import fc from 'fast-check';
import type { ReplyChunk } from './dialect';
import { nativeDialect } from './native';

const decode = (chunks: readonly ReplyChunk[]) => {
  const decoder = nativeDialect.decoder();
  const pieces = chunks.flatMap((chunk) => decoder.push(chunk));
  return { pieces, reply: decoder.end() };
};

const written = (text: string): ReplyChunk[] => [
  { type: 'call_start', index: 0, name: 'read_file' },
  { type: 'call_arguments', index: 0, text },
];

describe('the native dialect', () => {
  it('reads back any arguments, however the stream is split', () => {
    const anyReply = fc.record({
      text: fc.string({ unit: 'binary' }),
      args: fc.dictionary(fc.string(), fc.jsonValue()),
      size: fc.integer({ min: 1, max: 7 }),
    });
    fc.assert(
      fc.property(anyReply, ({ text, args, size }) => {
        const split = (whole: string) => whole.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
        const json = JSON.stringify(args);
        const { pieces, reply } = decode([
          ...split(text).map((piece): ReplyChunk => ({ type: 'text', text: piece })),
          { type: 'call_start', index: 0, name: 'read_file' },
          ...split(json).map((piece): ReplyChunk => ({ type: 'call_arguments', index: 0, text: piece })),
        ]);

        expect(JSON.stringify(reply.calls[0]?.arguments)).toBe(JSON.stringify(JSON.parse(json)));
        expect(reply.content.map((block) => block.text).join('')).toBe(text);
        expect(pieces.flatMap((piece) => (piece.type === 'text' ? piece.text : [])).join('')).toBe(text);
      }),
    );
  });

  it.each(['', '   '])('takes empty arguments as none: "%s"', (text) => {
    expect(decode(written(text)).reply.calls).toEqual([{ index: 0, name: 'read_file', arguments: {} }]);
  });

  it.each(['{"file_path": "a', '[1]', '"text"', 'null', 'path=a', '{"a":1} {"b":2}'])(
    'does not guess the meaning of %s',
    (text) => {
      const [call] = decode(written(text)).reply.calls;

      expect(call?.arguments).toEqual({});
      expect(call?.malformed?.written).toBe(text);
    },
  );

  it('separates reasoning from text and keeps its signature', () => {
    const { reply } = decode([
      { type: 'reasoning', text: 'Let me ' },
      { type: 'reasoning', text: 'think.' },
      { type: 'reasoning_end', signature: 'sig' },
      { type: 'reasoning_end', redacted: 'xyz' },
      { type: 'text', text: 'Hi.' },
    ]);

    expect(reply.content).toEqual([
      { type: 'reasoning', text: 'Let me think.', signature: 'sig' },
      { type: 'reasoning', text: '', redacted: 'xyz' },
      { type: 'text', text: 'Hi.' },
    ]);
  });
});
