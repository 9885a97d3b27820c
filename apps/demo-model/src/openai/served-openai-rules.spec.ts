import fc from 'fast-check';
import { Violation } from '../refusal';
import { lenientOpenAiProtocol, openAiProtocol } from './served-openai-protocol';

type Message = Record<string, unknown>;

const read = (body: object) => openAiProtocol.read(body, {});
const text = fc.string({ minLength: 1 });

/** A reply with its calls answered, in any order. */
const exchange = fc
  .array(fc.record({ id: fc.stringMatching(/^[a-z]{8}$/), answer: fc.string() }), { maxLength: 3 })
  .chain((drafts) => {
    const calls = drafts.map(({ id, answer }, index) => ({ id: `${id}_${index}`, answer }));
    return fc
      .record({ said: text, answers: fc.shuffledSubarray(calls, { minLength: calls.length }) })
      .map(({ said, answers }): Message[] => [
        {
          role: 'assistant',
          content: said,
          ...(calls.length > 0 && {
            tool_calls: calls.map(({ id }) => ({ id, type: 'function', function: { name: 'ls', arguments: '{}' } })),
          }),
        },
        ...answers.map(({ id, answer }) => ({ role: 'tool', tool_call_id: id, content: answer })),
      ]);
  });

/** No id is in two turns. */
const withIds = (turn: number, { tool_calls, tool_call_id, ...message }: Message): Message => ({
  ...message,
  ...(Array.isArray(tool_calls) && {
    tool_calls: tool_calls.map((call: { id: string }) => ({ ...call, id: `${call.id}_${turn}` })),
  }),
  ...(typeof tool_call_id === 'string' && { tool_call_id: `${tool_call_id}_${turn}` }),
});

const history = fc
  .record({
    system: text,
    turns: fc.array(
      fc.oneof(
        text.map((content) => [{ role: 'user', content }]),
        exchange,
      ),
    ),
    last: text,
  })
  .map(({ system, turns, last }): Message[] => [
    { role: 'system', content: system },
    ...turns.flatMap((turn, at) => turn.map((message) => withIds(at, message))),
    { role: 'user', content: last },
  ]);
const historyWithCalls = history.filter((messages) => messages.some(({ role }) => role === 'tool'));

const property = (arbitrary: fc.Arbitrary<Message[]>, check: (messages: Message[]) => void) =>
  fc.assert(fc.property(arbitrary, check));
const refuses = (mutilate: (messages: Message[], at: number) => Message[]) =>
  property(historyWithCalls, (messages) => {
    const at = messages.findIndex(({ role }) => role === 'tool');
    expect(() => read({ model: 'plain', messages: mutilate(messages, at) })).toThrow(Violation);
  });

it('accepts every history whose calls are answered (I6)', () => {
  property(history, (messages) => {
    expect(read({ model: 'plain', messages }).messages).toBe(messages.length);
  });
});

it('finds the answer to each call, whatever the order of the answers', () => {
  property(historyWithCalls, (messages) => {
    const answers = messages.filter(({ role }) => role === 'tool').map(({ content }) => content);
    const { turns } = read({ model: 'plain', messages }).conversation;
    const known = turns.flatMap((turn) => (turn.role === 'assistant' ? turn.calls.map(({ result }) => result) : []));

    expect(known.sort()).toEqual(answers.sort());
  });
});

it('refuses a history without the result of a call', () => {
  refuses((messages, at) => messages.toSpliced(at, 1));
});

it('refuses a history without the call of a result', () => {
  refuses((messages, at) => messages.toSpliced(at - 1, 1));
});

it('refuses a call that is answered twice', () => {
  refuses((messages, at) => messages.toSpliced(at, 0, { ...messages[at] }));
});

it('refuses a result for a call that was not made', () => {
  refuses((messages, at) => messages.with(at, { ...messages[at], tool_call_id: 'other' }));
});

it('refuses a message between a call and its answer', () => {
  refuses((messages, at) => messages.toSpliced(at, 0, { role: 'user', content: 'Wait.' }));
});

it('refuses a history that ends with an open call', () => {
  refuses((messages, at) => messages.slice(0, at));
});

const user = { role: 'user', content: 'Hello' };
const tool = { type: 'function', function: { name: 'ls', parameters: { type: 'object' } } };
const call = { id: 'a', type: 'function', function: { name: 'ls', arguments: '{}' } };

const calls = { role: 'assistant', content: null, tool_calls: [call] };
const answer = { role: 'tool', tool_call_id: 'a', content: '' };
const toolWith = (name: string, schema: object) => ({
  type: 'function',
  function: { name, parameters: { type: 'object', ...schema } },
});

it('accepts properties that are called like the words of a schema', () => {
  const properties = { type: { type: 'string', default: { $ref: 'data' } }, $ref: { type: 'array', items: {} } };
  expect(() => read({ model: 'plain', messages: [user], tools: [toolWith('t', { properties })] })).not.toThrow();
});

it.each<[string, object]>([
  ['no messages', { messages: [] }],
  ['an unknown role', { messages: [{ role: 'bot', content: 'Hello' }] }],
  ['an empty user message', { messages: [{ role: 'user', content: '' }] }],
  ['an empty list of parts', { messages: [{ role: 'user', content: [] }] }],
  ['a reply without content', { messages: [user, { role: 'assistant', content: null }, user] }],
  ['an empty reply', { messages: [user, { role: 'assistant', content: '' }, user] }],
  ['an empty list of calls', { messages: [user, { role: 'assistant', content: 'Hi', tool_calls: [] }] }],
  ['a field of our own in a message', { messages: [{ ...user, run_id: 'run_1' }] }],
  ['a field of our own in the request', { messages: [user], run_id: 'run_1' }],
  ['the options of a stream without one', { messages: [user], stream_options: { include_usage: true } }],
  ['a tool choice without tools', { messages: [user], tool_choice: 'auto' }],
  ['no tools in a list of tools', { messages: [user], tools: [] }],
  ['the same tool twice', { messages: [user], tools: [tool, tool] }],
  ['a tool with dots in its name', { messages: [user], tools: [{ ...tool, function: { name: 'fs.ls' } }] }],
  ['both limits', { messages: [user], max_tokens: 5, max_completion_tokens: 5 }],
  ['a temperature out of range', { messages: [user], temperature: 3 }],
  ['JSON mode without the word', { messages: [user], response_format: { type: 'json_object' } }],
  ['the same id twice', { messages: [user, { role: 'assistant', content: null, tool_calls: [call, call] }] }],
  ['the same id in two replies', { messages: [user, calls, answer, calls, answer] }],
  ['calls without the key of content', { messages: [user, { role: 'assistant', tool_calls: [call] }, answer] }],
  ['a call without an id', { messages: [user, { ...calls, tool_calls: [{ ...call, id: '' }] }] }],
  ['a long id', { messages: [user, { ...calls, tool_calls: [{ ...call, id: 'a'.repeat(41) }] }] }],
  ['129 tools', { messages: [user], tools: Array.from({ length: 129 }, (_, at) => toolWith(`t${at}`, {})) }],
  ['a reference', { messages: [user], tools: [toolWith('t', { properties: { a: { $ref: '#/x' } } })] }],
  ['alternatives at the top', { messages: [user], tools: [toolWith('t', { anyOf: [{}] })] }],
  ['a list of anything', { messages: [user], tools: [toolWith('t', { properties: { a: { type: 'array' } } })] }],
])('refuses %s', (_, body) => {
  expect(() => read({ model: 'plain', ...body })).toThrow(Violation);
});

it('accepts calls without the key of content when it is optional, and no other message without it', () => {
  const readLeniently = (last: object) =>
    lenientOpenAiProtocol.read({ model: 'plain', messages: [user, last, answer] }, {});

  expect(readLeniently({ role: 'assistant', tool_calls: [call] }).conversation.turns).toHaveLength(2);
  expect(() => readLeniently({ role: 'user' })).toThrow(Violation);
});

it('names the field that is wrong', () => {
  const messages = [user, { role: 'user', content: [{ type: 'text', text: '' }] }];

  expect(() => read({ model: 'plain', messages })).toThrow(
    expect.objectContaining({ message: expect.stringContaining("'messages.1.content.0.text'") }),
  );
});
