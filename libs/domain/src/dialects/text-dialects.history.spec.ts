import fc from 'fast-check';
import { type Message, sha256 } from '@rondo/contract';
import type { ModelMessage } from '../models/model';
import { answered, failure, replied, said } from '../testing/conversation';
import { corpusTools, plainSettings, textDialectNames, textDialects } from '../testing/read-reply';
import type { ResultPlacement } from './text-turns';

const placings: readonly ResultPlacement[] = ['user_message', 'assistant_message', 'inline_edit'];

const encode = (
  name: keyof typeof textDialects,
  conversation: readonly Message[],
  placing: ResultPlacement = 'user_message',
) => textDialects[name].encode(conversation, corpusTools, { ...plainSettings, xml_adding_strategy: placing });

const listLines = (messages: readonly ModelMessage[]) =>
  messages.map((message) =>
    message.role === 'tool'
      ? 'tool'
      : `${message.role}: ${message.content.map((block) => ('text' in block ? block.text : block.type)).join('|')}`,
  );

const read = { name: 'read_file', arguments: { file_path: 'a', start_line: 2 } };
const ask = { name: 'ask', arguments: { text: 'Is\nit "<ok>"?', attachments: ['a'] } };
const conversation = [
  said('user', 'Look.'),
  replied(0, 'I look.\n', read, ask),
  answered(1, 'x < y'),
  answered(2, failure),
  said('assistant', 'Done.'),
];

describe('a conversation in a text dialect', () => {
  it.each([
    [
      'xml_invoke' as const,
      'assistant: I look.\n<function_calls>\n<invoke name="read_file">\n<parameter name="file_path">a</parameter>\n' +
        '<parameter name="start_line">2</parameter>\n</invoke>\n<invoke name="ask">\n' +
        '<parameter name="text">\nIs\nit "<ok>"?\n</parameter>\n<parameter name="attachments">["a"]</parameter>\n' +
        '</invoke>\n</function_calls>',
    ],
    [
      'xml_tag' as const,
      'assistant: I look.\n<read-file file_path="a" start_line="2"/>\n' +
        '<ask attachments="[&quot;a&quot;]">\nIs\nit "<ok>"?\n</ask>',
    ],
    [
      'json' as const,
      'assistant: I look.\n\n{"tool_name":"read_file","parameters":{"file_path":"a","start_line":2}}\n' +
        '{"tool_name":"ask","parameters":{"text":"Is\\nit \\"<ok>\\"?","attachments":["a"]}}',
    ],
  ])('has the calls in the words of %s, and their results in the next turn', (name, expected) => {
    const [, reply, results] = listLines(encode(name, conversation));

    expect(reply).toBe(expected);
    expect(results).toBe(
      name === 'json'
        ? 'user: {"tool_result":"read_file","output":"x < y"}\n{"tool_result":"ask","is_error":true,"output":"Error: It broke."}'
        : 'user: <tool_result name="read_file">\nx < y\n</tool_result>\n<tool_result name="ask" error="true">\nError: It broke.\n</tool_result>',
    );
  });

  it('puts results into the reply that called, or in place of the calls', () => {
    const results =
      '<tool_result name="read_file">\nx < y\n</tool_result>\n<tool_result name="ask" error="true">\nError: It broke.\n</tool_result>';

    expect(listLines(encode('xml_tag', conversation, 'assistant_message'))[1]).toMatch(
      /^assistant: I look\.\n<read-file [^]*<\/ask>\n<tool_result [^]*<\/tool_result>$/,
    );
    expect(listLines(encode('xml_tag', conversation, 'inline_edit'))[1]).toBe(`assistant: I look.\n${results}`);
  });

  it.each(placings)('moves an image of a result to a user turn (%s)', (placing) => {
    const image = { sha256: sha256.parse('a'.repeat(64)), media_type: 'image/png' as const, width: 2, height: 3 };
    const seen = [said('user', 'Look.'), replied(0, read), answered(0, { success: true, output: 'seen', image })];

    expect(listLines(encode('xml_invoke', seen, placing)).at(-1)).toMatch(/^user: .*image$/s);
  });

  it.each(textDialectNames)('keeps a malformed call as it was written (%s)', (name) => {
    const raw = name === 'json' ? '{"tool_name": "read_file", oops' : '<read-file start_line="one"/>';
    const bad = replied(0, { name: 'read_file', arguments: {}, raw_arguments: raw });

    expect(listLines(encode(name, [said('user', 'Go.'), bad, answered(0, failure)]))[1]).toContain(raw);
  });

  it.each(textDialectNames)('writes the call of which a native reply has only the name (%s, I6)', (name) => {
    const bad = replied(0, { name: 'read_file', arguments: {}, raw_arguments: '' });

    expect(listLines(encode(name, [said('user', 'Go.'), bad, answered(0, failure)]))[1]).toMatch(/read.file/);
  });

  it('writes an answer in JSON mode as the decision "none"', () => {
    expect(listLines(encode('json', conversation))[3]).toBe('assistant: {"tool_name":"none","response":"Done."}');
    expect(textDialects.json.offer(corpusTools, plainSettings).responseFormat).toEqual({ type: 'json_object' });
  });

  it('has neither format nor instructions without tools', () => {
    expect(textDialects.json.offer([], plainSettings)).toEqual({ instructions: '', tools: [] });
    expect(listLines(textDialects.json.encode(conversation, [], plainSettings))[3]).toBe('assistant: Done.');
  });

  it.each(textDialectNames)('names every tool in its instructions (%s)', (name) => {
    const { instructions } = textDialects[name].offer(corpusTools, plainSettings);

    for (const tool of corpusTools) expect(instructions).toContain(tool.description);
  });
});

const anyConversation = fc.array(
  fc.oneof(
    fc.constantFrom('', ' ', 'hello').map((text) => said('user', text)),
    fc.constantFrom('', 'thinking').map((text) => said('assistant', text)),
    fc.tuple(fc.nat(20), fc.constantFrom('', 'text')).map(([id, text]) => replied(id, text, read, ask)),
    fc.tuple(fc.nat(20), fc.constantFrom('', 'out')).map(([id, output]) => answered(id, output)),
  ),
  { maxLength: 20 },
);

describe.each(textDialectNames)('any conversation in %s', (name) => {
  it.each(placings)('is a valid request: roles alternate, nothing is empty, the user ends it (I6, %s)', (placing) => {
    fc.assert(
      fc.property(anyConversation, (any) => {
        const messages = encode(name, any, placing);

        expect(messages.map(({ role }) => role)).toEqual(
          messages.map((_, at) => (at % 2 === 0 ? 'user' : 'assistant')),
        );
        expect(messages.length % 2).toBe(1);
        for (const line of listLines(messages)) expect(line).toMatch(/^(user|assistant): \s*\S/);
      }),
    );
  });

  it.each(placings)('is the same whether it grew or came whole (%s)', (placing) => {
    fc.assert(
      fc.property(anyConversation, (any) => {
        for (let length = 1; length <= any.length; length++) {
          const grown = any.slice(0, length);
          expect(encode(name, grown, placing)).toEqual(encode(name, structuredClone(grown), placing));
        }
      }),
    );
  });

  it.each(placings)('renders an unchanged turn once (%s)', (placing) => {
    const first = [said('user', 'Go.'), replied(1, 'Next.', read), answered(2, 'out')];
    const before = encode(name, first, placing);
    const after = encode(name, [...first, replied(4, 'Next.', read), answered(5, 'out')], placing);

    expect(before.slice(0, 2).map((turn, at) => turn === after[at])).toEqual([true, true]);
  });

  it.each(placings)('only grows, so that a cached prefix stays valid (%s)', (placing) => {
    const turns = [1, 4, 7, 10].flatMap((id) => [replied(id, 'Next.', read), answered(id + 1, 'out')]);
    const prefixes = [2, 4, 6, 8].map((count) =>
      encode(name, [said('user', 'Go.'), ...turns.slice(0, count)], placing),
    );

    for (const messages of prefixes) expect(prefixes.at(-1)?.slice(0, messages.length)).toEqual(messages);
  });
});
