import fc from 'fast-check';
import { replied, said } from '../testing/conversation';
import { corpusTools, plainSettings, readReply, textDialectNames, textDialects } from '../testing/read-reply';
import type { DecodedReply, ReplyPiece } from './dialect';

/** Nightly: `npx jest text-dialects --globals '{"fuzzRuns":1000000}' --testTimeout=36000000`. */
const { fuzzRuns } = globalThis as { fuzzRuns?: number };
const runs = { numRuns: fuzzRuns ?? 300 };

const fragments = [
  ...['<function_calls>', '</function_calls>', '<invoke name="create_file">', '<invoke name="nope">', '</invoke>'],
  ...[
    '<invoke',
    '<parameter name="file_path">',
    '<parameter name="file_contents"',
    '</parameter>',
    '</parameter',
    '/>',
  ],
  ...['<create-file file_path="a">', '</create-file>', '<create-file', '<ask>', '</ask>', '<list-commands/>'],
  ...[
    '<str-replace',
    ' old_str="',
    '<old_str>',
    '</old_str>',
    '</str-replace>',
    '<![CDATA[',
    ']]>',
    ']',
    '>',
    '<',
    '"',
    "'",
  ],
  ...['{', '}', '[', '{"tool_name": "', '"tool_name"', 'none", "response": "', 'read_file", "parameters": {', ':', ','],
  ...[
    '\\',
    '\\u',
    '\\ud83c',
    '\\udf75',
    '00e9',
    '"}',
    '```json\n',
    '\n',
    '\r\n',
    ' ',
    'text',
    '&lt;',
    '🍵',
    '0',
    'null',
  ],
];

/** Text that is as much like calls as chance can make it, or like nothing. */
const anyReply = fc.oneof(
  { weight: 5, arbitrary: fc.array(fc.constantFrom(...fragments), { maxLength: 40 }).map((parts) => parts.join('')) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary' }) },
);

const toText = (parts: readonly { type: string; text: string }[]) =>
  parts.flatMap(({ type, text }) => (type === 'text' ? text : [])).join('');

/** What was shown of each call. */
function createArguments(pieces: readonly ReplyPiece[]): Record<string, string> {
  const shown: Record<string, string> = {};
  for (const piece of pieces) {
    if (piece.type !== 'call_arguments') continue;
    const call = `${piece.index} ${piece.name}`;
    shown[call] = (shown[call] ?? '') + piece.text;
  }
  return shown;
}

describe.each(textDialectNames)('the %s dialect', (name) => {
  it('reads the same reply however it is split, and shows exactly the text that it keeps', () => {
    fc.assert(
      fc.property(anyReply, fc.integer({ min: 1, max: 9 }), (written, size) => {
        const whole = readReply(name, written, written.length || 1);
        const split = readReply(name, written, size);

        expect(withoutPieces(split.reply)).toEqual(withoutPieces(whole.reply));
        expect(toText(split.pieces)).toBe(toText(split.reply.content));
        expect(toText(whole.pieces)).toBe(toText(whole.reply.content));
        expect(createArguments(split.pieces)).toEqual(createArguments(whole.pieces));
      }),
      runs,
    );
  });

  it('reads back any calls that it writes', () => {
    fc.assert(
      fc.property(anyCalls, fc.integer({ min: 1, max: 9 }), (calls, size) => {
        const messages = textDialects[name].encode(
          [said('user', 'Go.'), replied(0, ...calls)],
          corpusTools,
          plainSettings,
        );
        const { reply } = readReply(
          name,
          toText(messages[1]?.role === 'assistant' ? textBlocks(messages[1]) : []),
          size,
        );

        expect(reply.calls.map((call) => call.malformed)).toEqual(calls.map(() => undefined));
        expect(JSON.stringify(reply.calls.map((call) => [call.name, sorted(call.arguments)]))).toBe(
          JSON.stringify(calls.map((call) => [call.name, sorted(call.arguments)])),
        );
      }),
      runs,
    );
  });

  it.each(['<', '</parameter', '</parameter>\n', ']]', '{"', '\\', '<create-file x="', '<![CDATA['])(
    'takes a megabyte of %j without looking at it again and again',
    (unit) => {
      const { reply, pieces } = readReply(name, openings[name] + unit.repeat(1_000_000 / unit.length), 16);

      expect(toText(pieces)).toBe(toText(reply.content));
    },
  );
});

const openings = {
  xml_invoke: '<function_calls><invoke name="create_file"><parameter name="file_contents">',
  xml_tag: '<create-file file_path="a">',
  json: '{"tool_name":"none","response":"',
};

const withoutPieces = ({ rest: _, ...reply }: DecodedReply) => reply;

const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.array(fc.constantFrom(...fragments), { maxLength: 12 }).map((parts) => parts.join('')),
);
const number = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0); // JSON has no -0
const plain = fc.jsonValue({ stringUnit: 'binary' }).map((value) => JSON.parse(JSON.stringify(value)) as unknown);

const anyCall = fc.oneof(
  fc
    .record({ file_path: anyText, file_contents: anyText, permissions: anyText }, { requiredKeys: [] })
    .map((input) => ({ name: 'create_file', arguments: input })),
  fc.record({ file_path: anyText, old_str: anyText, new_str: anyText }, { requiredKeys: ['old_str'] }).map((input) => ({
    name: 'str_replace',
    arguments: input,
  })),
  fc
    .record(
      {
        points: fc.array(number),
        style: fc.dictionary(anyText, plain, { noNullPrototype: true }),
        scale: fc.option(number),
        notes: fc.oneof(anyText, fc.array(plain)),
        label: anyText,
        caption: fc.oneof(
          anyText,
          fc.array(anyText),
          plain.map((value) => JSON.stringify(value)),
        ),
        grid: fc.boolean(),
      },
      { requiredKeys: [] },
    )
    .map((input) => ({ name: 'plot', arguments: input })),
  fc.constant({ name: 'list_commands', arguments: {} }),
);
const anyCalls = fc.array(anyCall, { minLength: 1, maxLength: 3 });

const sorted = (input: Readonly<Record<string, unknown>>) => Object.entries(input).sort(([a], [b]) => (a < b ? -1 : 1));

const textBlocks = (message: { content: readonly { type: string }[] }) =>
  message.content.filter((block): block is { type: 'text'; text: string } => block.type === 'text');
