import { corpusTools, plainSettings, readReply, textDialects } from '../testing/read-reply';

const replies = {
  xml_invoke:
    'One.\n<function_calls>\n<invoke name="list_commands"/>\n<invoke name="list_files"></invoke>\n</function_calls>\nTwo. <function_calls>',
  xml_tag: 'One.\n<list-commands/><list-files></list-files>Two. <list-files',
};

describe.each(['xml_invoke', 'xml_tag'] as const)('the limit of calls in %s', (name) => {
  it.each([1, 3, 1000])('ends the reply after the last counted call, in chunks of %i', (size) => {
    const { reply, pieces } = readReply(name, replies[name], size, { ...plainSettings, max_tool_calls: 1 });

    expect(reply.calls.map((call) => call.name)).toEqual(['list_commands']);
    expect(reply.content).toEqual([{ type: 'text', text: 'One.\n' }]);
    expect(
      pieces
        .filter(({ type }) => type === 'text')
        .map(({ text }) => text)
        .join(''),
    ).toBe('One.\n');
  });

  it('reports when it is full, and which calls are complete while the reply still streams', () => {
    const decoder = textDialects[name].decoder(corpusTools, { ...plainSettings, max_tool_calls: 2 });
    const seen = Array.from(replies[name], (text) => {
      decoder.push({ type: 'text', text });
      return `${decoder.calls.length} ${decoder.isFull}`;
    });

    expect([...new Set(seen)]).toEqual(['0 false', '1 false', '2 true']);
  });
});

it('continues a reply where its length limit cut it off', () => {
  const { reply } = readReply('xml_invoke', '<function_calls><invoke name="list_comm', 100);
  const decoder = textDialects.xml_invoke.decoder(corpusTools, plainSettings);
  for (const text of ['<function_calls><invoke name="list_comm', 'ands"/></function_calls>'])
    decoder.push({ type: 'text', text });

  expect(reply.calls[0]?.malformed).toBeDefined();
  expect(decoder.end().calls).toEqual([{ index: 0, name: 'list_commands', arguments: {}, position: 0 }]);
});

it('separates reasoning from text and keeps its signature', () => {
  const decoder = textDialects.xml_tag.decoder(corpusTools, plainSettings);
  decoder.push({ type: 'reasoning', text: 'Maybe <list-commands/>' });
  decoder.push({ type: 'reasoning_end', opaque: { maker: 'a/b', data: 'sig' } });
  decoder.push({ type: 'text', text: 'Hi <list-commands/>' });

  expect(decoder.end()).toMatchObject({
    content: [
      { type: 'reasoning', text: 'Maybe <list-commands/>', opaque: { maker: 'a/b', data: 'sig' } },
      { type: 'text', text: 'Hi ' },
    ],
    calls: [{ name: 'list_commands', position: 2 }],
  });
});

describe('an answer in JSON mode', () => {
  const answer = '{"tool_name": "none", "response": "Hi \\ud83c\\udf75 there"}';

  it('is shown while it streams', () => {
    const decoder = textDialects.json.decoder(corpusTools, plainSettings);

    expect(decoder.push({ type: 'text', text: answer.slice(0, 37) })).toEqual([{ type: 'text', text: 'Hi' }]);
  });

  it('shows both halves of an emoji together', () => {
    const { pieces } = readReply('json', answer, 1);

    expect(pieces.map(({ text }) => text)).toContain('🍵');
    expect(pieces.some(({ text }) => /\p{Surrogate}/u.test(text))).toBe(false);
  });
});
