import fc from 'fast-check';
import type { ReplyChunk } from './dialect';
import { nativeDialect } from './native';

const decode = (chunks: readonly ReplyChunk[]) => {
  const decoder = nativeDialect.decoder([]);
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

  it.each(['', '   ', 'null', ' null ', '""'])('takes empty arguments as none: "%s"', (text) => {
    expect(decode(written(text)).reply.calls).toEqual([{ index: 0, name: 'read_file', arguments: {} }]);
  });

  it.each(['{"file_path": "a', '[1]', '"text"', 'path=a', '[{"a":1}]', '} {"a":1}', '{a:1} {"b":2}'])(
    'does not guess the meaning of %s',
    (text) => {
      const [call] = decode(written(text)).reply.calls;

      expect(call?.arguments).toEqual({});
      expect(call?.malformed?.written).toBe(text);
    },
  );

  it.each(['{"id":820982911946154508}', '{"ids":[{"id":-9007199254740993}]}', '"{\\"id\\":820982911946154508}"'])(
    'refuses a number that it could not keep as it is written: %s',
    (text) => {
      const [call] = decode(written(text)).reply.calls;

      expect(call).toMatchObject({ arguments: {}, malformed: { written: text } });
      expect(call?.malformed?.reason).toMatch(/digits of (820982911946154508|-9007199254740993) .* string/);
    },
  );

  it('reads arguments that are encoded twice', () => {
    const twice = JSON.stringify(JSON.stringify({ file_path: 'a "b"' }));

    expect(decode(written(twice)).reply.calls).toEqual([
      { index: 0, name: 'read_file', arguments: { file_path: 'a "b"' } },
    ]);
  });

  it.each([
    ['{"a":"}"}', { a: '}' }],
    ['{"a":"\\"}"}', { a: '"}' }],
    ['{"a":"\\\\"}', { a: '\\' }],
    [' {"a":{"b":[{}]}}', { a: { b: [{}] } }],
  ])('completes a call with the last character of its object: %s', (text, args) => {
    for (let size = 1; size <= text.length; size++) {
      const decoder = nativeDialect.decoder([]);
      decoder.push({ type: 'call_start', index: 0, name: 'read_file' });
      const complete = (text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? []).map((piece) => {
        decoder.push({ type: 'call_arguments', index: 0, text: piece });
        return decoder.calls.length;
      });

      expect(complete.at(-1)).toBe(1);
      expect(complete.slice(0, -1)).not.toContain(1);
      expect(decoder.calls[0]?.arguments).toEqual(args);
    }
  });

  it('completes calls in their order, however their arguments are mixed', () => {
    const decoder = nativeDialect.decoder([]);
    const seen = [
      { type: 'call_start' as const, index: 0, name: 'first' },
      { type: 'call_start' as const, index: 1, name: 'second' },
      { type: 'call_arguments' as const, index: 1, text: '{}' },
      { type: 'call_arguments' as const, index: 0, text: '{"a":1}' },
      { type: 'text' as const, text: 'And on.' },
    ].map((chunk) => {
      decoder.push(chunk);
      return decoder.calls.map(({ name }) => name);
    });

    expect(seen).toEqual([[], [], [], ['first', 'second'], ['first', 'second']]);
  });

  it.each([['{"a":1} {"b":2}'], ['{"a":1}{"b":2}'], ['{"a":1}\n{"b":2']])(
    'reports what follows the object as a call of its own, however it is split: %s',
    (text) => {
      for (let size = 1; size <= text.length; size++) {
        const split = text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
        const { reply } = decode([
          { type: 'call_start', index: 0, name: 'read_file' },
          ...split.map((piece): ReplyChunk => ({ type: 'call_arguments', index: 0, text: piece })),
          { type: 'call_start', index: 1, name: 'list_files' },
        ]);

        expect(reply.calls).toEqual([
          { index: 0, name: 'read_file', arguments: { a: 1 } },
          { index: 1, name: 'list_files', arguments: {} },
          {
            index: 2,
            name: 'read_file',
            arguments: {},
            malformed: { reason: expect.stringContaining('after the JSON object'), written: text.slice(7) },
          },
        ]);
      }
    },
  );

  it('separates reasoning from text and keeps its signature', () => {
    const { reply } = decode([
      { type: 'reasoning', text: 'Let me ' },
      { type: 'reasoning', text: 'think.' },
      { type: 'reasoning_end', opaque: { maker: 'a/b', data: 'sig' } },
      { type: 'reasoning_end', opaque: { maker: 'a/b', data: 'xyz' } },
      { type: 'text', text: 'Hi.' },
    ]);

    expect(reply.content).toEqual([
      { type: 'reasoning', text: 'Let me think.', opaque: { maker: 'a/b', data: 'sig' } },
      { type: 'reasoning', text: '', opaque: { maker: 'a/b', data: 'xyz' } },
      { type: 'text', text: 'Hi.' },
    ]);
  });
});

describe('what a provider wants back with a call', () => {
  const opaque = { maker: 'gemini/m', data: 'signature' };

  it('is kept with the call, whether it comes with the name or after the arguments', () => {
    const early: ReplyChunk[] = [
      { type: 'call_start', index: 0, name: 'a', opaque },
      { type: 'call_arguments', index: 0, text: '{}' },
    ];
    const late: ReplyChunk[] = [
      { type: 'call_start', index: 0, name: 'a' },
      { type: 'call_arguments', index: 0, text: '{}' },
      { type: 'call_end', index: 0, opaque },
    ];

    for (const chunks of [early, late])
      expect(decode(chunks).reply.calls).toEqual([{ index: 0, name: 'a', arguments: {}, opaque }]);
  });

  it('does not make a call valid of which it cannot be told what the model wrote', () => {
    const problem = 'Its pieces do not belong together.';
    const { reply } = decode([...written('{"a"'), { type: 'call_end', index: 0, problem }]);

    expect(reply.calls[0]).toMatchObject({ arguments: {}, malformed: { reason: problem, written: '{"a"' } });
  });
});
