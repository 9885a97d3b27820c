import type { DialectName } from '@rondo/contract';
import fc from 'fast-check';
import { tools } from '../tools/catalog';
import type { DecodedReply, ReplyPiece } from './dialect';
import { dialectNamed } from './registry';
import { ThoughtReader } from './thought-reader';

const settings = {
  xml_adding_strategy: 'user_message',
  include_xml_examples: false,
  max_tool_calls: 0,
  printed_calls: true,
} as const;

const calls: Record<DialectName, (path: string) => string> = {
  native: (path) => `<tool_call>{"name": "read_file", "arguments": {"file_path": "${path}"}}</tool_call>`,
  xml_invoke: (path) =>
    `<function_calls>\n<invoke name="read_file">\n<parameter name="file_path">${path}</parameter>\n</invoke>\n</function_calls>`,
  xml_tag: (path) => `<read-file file_path="${path}"/>`,
  json: (path) => `{"tool_name": "read_file", "parameters": {"file_path": "${path}"}}`,
};
const names = Object.keys(calls) as DialectName[]; // the keys of the record above

interface Read {
  readonly decoded: DecodedReply;
  readonly pieces: readonly ReplyPiece[];
}

/** Reads a reply in chunks of `size` characters, as the loop does: thoughts are taken out before the dialect reads it. */
function read(name: DialectName, written: string, size: number): Read {
  const decoder = dialectNamed(name).decoder(tools, settings);
  const thoughts = new ThoughtReader(() => decoder.isInCall);
  const pieces: ReplyPiece[] = [];
  const take = (given: ReturnType<ThoughtReader['read']>) => {
    for (const piece of given)
      if (piece.type === 'thought_end') pieces.push(...decoder.push({ type: 'reasoning_end' }));
      else if (piece.type !== 'unopened_thought') pieces.push(...decoder.push(piece));
  };
  for (let at = 0; at < written.length; at += size) take(thoughts.read(written.slice(at, at + size)));
  take(thoughts.end());
  const decoded = decoder.end();
  return { decoded, pieces: [...pieces, ...decoded.rest] };
}

const pathsCalled = ({ decoded }: Read) => decoded.calls.map((call) => call.arguments['file_path']);

const joined = (pieces: readonly { readonly type: string; readonly text?: string }[], type: string): string =>
  pieces.flatMap((piece) => (piece.type === type ? [piece.text] : [])).join('');

describe.each(names)('a thought that is opened within a sentence, in %s', (name) => {
  const draft = calls[name]('draft.txt');

  it('makes none of the calls in it, and is reasoning', () => {
    const reply = read(name, `Let me see <think>maybe ${draft}, no.</think> I will not.`, 5);

    expect(reply.decoded.calls).toEqual([]);
    expect(joined(reply.decoded.content, 'reasoning')).toBe(`maybe ${draft}, no.`);
    expect(joined(reply.pieces, 'reasoning')).toBe(`maybe ${draft}, no.`);
    if (name !== 'json') expect(joined(reply.decoded.content, 'text')).toBe('Let me see I will not.');
  });

  it('has the model told that nothing was called if it is not closed', () => {
    const { decoded } = read(name, `Let me see <think>maybe ${draft}`, 5);

    expect(decoded).toMatchObject({ calls: [], verdict: { decision: 'malformed' } });
    expect(JSON.stringify(decoded.verdict)).toContain('a thought');
  });

  it('does not undo a call before it', () => {
    const reply = read(name, `${calls[name]('a.txt')}\nand then <think>maybe ${draft}`, 5);

    expect(pathsCalled(reply)).toEqual(['a.txt']);
    expect(JSON.stringify(reply.decoded.verdict ?? '')).not.toContain('a thought');
  });

  it.each([
    'The tags <think> and </think> surround it. ',
    'Write `<think>` before it. ',
    'They call it "<think>". ',
    'Use ("<think>") for it. ',
    '```html\n<think>\n```\n',
  ])('is none where the mark is only spoken of, and the call after it is made: %j', (words) => {
    expect(pathsCalled(read(name, words + draft, 5))).toEqual(['draft.txt']);
  });

  it('keeps a pair of marks within the arguments of a call', () => {
    const content = '<think>\nkept\n</think>';
    const write: Record<DialectName, string> = {
      native: `<tool_call>\n<function=create_file>\n<parameter=file_path>\na\n</parameter>\n<parameter=file_contents>\n${content}\n</parameter>\n</function>\n</tool_call>`,
      xml_invoke: `<invoke name="create_file"><parameter name="file_path">a</parameter><parameter name="file_contents">${content}</parameter></invoke>`,
      xml_tag: `<create-file file_path="a">${content}</create-file>`,
      json: JSON.stringify({
        tool_name: 'create_file',
        parameters: { file_path: 'a', file_contents: content },
      }),
    };
    for (const size of [1, 7, 1_000])
      expect(read(name, `I write it.\n${write[name]}`, size).decoded.calls[0]?.arguments).toEqual({
        file_path: 'a',
        file_contents: content,
      });
  });
});

/** A part of a reply: its text, and what is known of the calls in it. */
interface Part {
  readonly written: string;
  readonly called?: string;
  readonly drafted?: string;
  readonly endsReply?: true;
}

const prose = fc.constantFrom('I look. ', 'Then this, ', 'a < b\n', '`x` is done.\n', '🍵 and ', '\n\n');
const opening = fc.constantFrom('<think>', '<thinking>', '[THINK]', '◁think▷');
const closings: Record<string, string> = {
  '<think>': '</think>',
  '<thinking>': '</thinking>',
  '[THINK]': '[/THINK]',
  '◁think▷': '◁/think▷',
};

const anyReply = (name: DialectName) => {
  const path = fc.integer({ min: 1, max: 1e9 }).map(String);
  const call = path.map((called): Part => ({ written: `${calls[name](called)}\n`, called }));
  const thought = fc.record({ mark: opening, drafted: path, isClosed: fc.boolean(), before: prose, after: prose });
  const drafted = thought.map(({ mark, drafted, isClosed, before, after }): Part => {
    const inner = `maybe ${calls[name](drafted)} or ${after.replaceAll('`', '')}`;
    const written = `${before}${mark}${inner}${isClosed ? `.${closings[mark] ?? ''}\n` : ''}`;
    return { written, drafted, ...(!isClosed && { endsReply: true }) };
  });
  const part = fc.oneof(
    prose.map((written): Part => ({ written })),
    call,
    drafted,
  );
  return fc.array(part, { maxLength: 6 }).map((parts) => {
    const end = parts.findIndex(({ endsReply }) => endsReply);
    return end < 0 ? parts : parts.slice(0, end + 1);
  });
};

describe.each(names)('any thought in %s', (name) => {
  it('calls nothing, and all else does, however the reply is cut into pieces', () => {
    fc.assert(
      fc.property(anyReply(name), fc.integer({ min: 1, max: 30 }), (parts, size) => {
        const written = parts.map((part) => part.written).join('');
        const whole = read(name, written, written.length || 1);
        const cut = read(name, written, size);

        expect(pathsCalled(whole)).toEqual(parts.flatMap(({ called }) => called ?? []));
        const reasoning = joined(whole.decoded.content, 'reasoning');
        for (const { drafted } of parts) if (drafted !== undefined) expect(reasoning).toContain(drafted);
        expect(cut.decoded.calls).toEqual(whole.decoded.calls);
        expect(cut.decoded.content).toEqual(whole.decoded.content);
        expect(cut.decoded.verdict).toEqual(whole.decoded.verdict);
        for (const type of ['text', 'reasoning'])
          expect(joined(cut.pieces, type)).toBe(joined(cut.decoded.content, type));
      }),
      { numRuns: 200 },
    );
  });
});
