import fc from 'fast-check';
import { Violation } from '../refusal';
import { anthropicProtocol } from './served-anthropic-protocol';
import { toSignature } from './served-anthropic-rules';

type Block = Record<string, unknown> & { type: string };
interface Message {
  role: string;
  content: Block[];
}

const headers = { 'anthropic-version': '2023-06-01' };
const read = (body: object) => anthropicProtocol.read({ model: 'plain', max_tokens: 5000, ...body }, headers);
const text = fc
  .string({ minLength: 1 })
  .filter((value) => /\S/.test(value))
  .map((value): Block => ({ type: 'text', text: value }));
const thinking = fc
  .string()
  .map((value): Block => ({ type: 'thinking', thinking: value, signature: toSignature(value) }));

/** A reply and the user's next message, which answers its calls before it says anything else. */
const exchange = fc.record({
  thought: fc.option(thinking),
  said: text,
  results: fc.array(fc.string(), { maxLength: 3 }),
  next: text,
});
const history = fc.record({ first: text, exchanges: fc.array(exchange) }).map(({ first, exchanges }): Message[] => [
  { role: 'user', content: [first] },
  ...exchanges.flatMap(({ thought, said, results, next }, turn): Message[] => {
    const toId = (index: number) => `toolu_${turn}_${index}`;
    const uses = results.map((_, index): Block => ({ type: 'tool_use', id: toId(index), name: 'ls', input: {} }));
    const answers = results.map((content, index): Block => ({
      type: 'tool_result',
      tool_use_id: toId(index),
      content,
    }));
    return [
      { role: 'assistant', content: [...(thought ? [thought] : []), said, ...uses] },
      { role: 'user', content: [...answers.reverse(), next] },
    ];
  }),
]);
const holds = (type: string) => (message: Message) => message.content.some((block) => block.type === type);
const without = (type: string) => (message: Message) => ({
  ...message,
  content: message.content.filter((block) => block.type !== type),
});

const refuses = (type: string, mutilate: (messages: Message[], at: number) => Message[]) =>
  fc.assert(
    fc.property(
      history.filter((messages) => messages.some(holds(type))),
      (messages) => {
        const mutilated = mutilate(messages, messages.findIndex(holds(type)));
        expect(() => read({ messages: mutilated })).toThrow(Violation);
      },
    ),
  );
const change = (change: (message: Message) => Message) => (messages: Message[], at: number) =>
  messages.map((message, index) => (index === at ? change(message) : message));

it('accepts every history whose roles alternate and whose calls are answered (I6)', () => {
  fc.assert(
    fc.property(history, (messages) => {
      expect(read({ messages }).messages).toBe(messages.length);
    }),
  );
});

it('refuses a history without the result of a call', () => {
  refuses('tool_result', change(without('tool_result')));
});

it('refuses a history without the call of a result', () => {
  refuses('tool_use', change(without('tool_use')));
});

it('refuses a history that has lost a message', () => {
  refuses('tool_use', (messages, at) => messages.toSpliced(at, 1));
});

it('refuses two messages of the same role in a row', () => {
  refuses('text', (messages, at) =>
    messages.toSpliced(at, 0, { role: 'user', content: [{ type: 'text', text: 'Hi' }] }),
  );
});

it('refuses text before a result', () => {
  refuses(
    'tool_result',
    change(({ role, content }) => ({ role, content: content.toReversed() })),
  );
});

it('refuses a call that is answered twice', () => {
  refuses(
    'tool_result',
    change(({ role, content }) => ({ role, content: content.flatMap((block) => [block, block]) })),
  );
});

it('refuses a call id that is used again later', () => {
  refuses('tool_use', (messages, at) => [...messages, ...messages.slice(at, at + 2)]);
});

it('refuses thinking that was changed', () => {
  const forge = (block: Block) =>
    block.type === 'thinking' ? { ...block, thinking: `${String(block.thinking)}!` } : block;
  refuses(
    'thinking',
    change(({ role, content }) => ({ role, content: content.map(forge) })),
  );
});

it('refuses thinking without a signature', () => {
  const strip = (block: Block) => (block.type === 'thinking' ? { type: block.type, thinking: block.thinking } : block);
  refuses(
    'thinking',
    change(({ role, content }) => ({ role, content: content.map(strip) })),
  );
});

it('refuses a history that ends with the model', () => {
  refuses('tool_use', (messages, at) => [
    ...messages.slice(0, at),
    { role: 'assistant', content: [{ type: 'text', text: 'And' }] },
  ]);
});

const messages = [{ role: 'user', content: 'Hello' }];
const tool = { name: 'ls', input_schema: { type: 'object' } };
const reply = (content: unknown) => [...messages, { role: 'assistant', content }, ...messages];
const marked = { type: 'text', text: 'Hi', cache_control: { type: 'ephemeral' } };

it.each<[string, object, string]>([
  ['no messages', { messages: [] }, 'messages: '],
  ['no limit', { messages, max_tokens: undefined }, 'max_tokens: Field required'],
  ['a first message of the model', { messages: [{ role: 'assistant', content: 'Hi' }, ...messages] }, 'first message'],
  ['a system message among the messages', { messages: [{ role: 'system', content: 'Be kind' }] }, 'messages.0.role'],
  ['an empty message', { messages: [{ role: 'user', content: '' }] }, 'messages.0.content'],
  ['a message without blocks', { messages: reply([]) }, 'messages.1.content'],
  ['an empty text block', { messages: reply([{ type: 'text', text: '' }]) }, 'messages.1.content.0.text'],
  ['a blank text block', { messages: reply([{ type: 'text', text: ' \n' }]) }, 'non-whitespace'],
  [
    'an input that is no object',
    { messages: reply([{ type: 'tool_use', id: 'a', name: 'ls', input: '{}' }]) },
    'input',
  ],
  [
    'a field of our own in a message',
    { messages: [{ ...messages[0], id: 'msg_1' }] },
    'Extra inputs are not permitted',
  ],
  ['a field of our own in the request', { messages, run_id: 'run_1' }, 'Extra inputs are not permitted'],
  ['a tool choice without tools', { messages, tool_choice: { type: 'auto' } }, 'tool_choice'],
  ['the same tool twice', { messages, tools: [tool, tool] }, 'must be unique'],
  ['a thinking budget above the limit', { messages, thinking: { type: 'enabled', budget_tokens: 5000 } }, 'max_tokens'],
  ['cold thinking', { messages, temperature: 0, thinking: { type: 'enabled', budget_tokens: 2000 } }, 'temperature'],
  [
    'a mark on a thought',
    { messages: reply([{ type: 'thinking', thinking: '', signature: 'x', cache_control: { type: 'ephemeral' } }]) },
    'Extra inputs are not permitted',
  ],
  [
    'a mark of another kind',
    { messages, system: [{ ...marked, cache_control: { type: 'forever' } }] },
    'cache_control',
  ],
  ['five cache marks', { messages, system: [marked, marked, marked, marked, marked] }, 'Found 5'],
])('refuses %s', (_, body, place) => {
  expect(() => read(body)).toThrow(place);
});

it('refuses to continue with thinking in a turn that began without a thinking block', () => {
  const call = (id: string) => ({ type: 'tool_use', id, name: 'ls', input: {} });
  const result = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: 'ok' });
  const thought = { type: 'thinking', thinking: 'Hm', signature: toSignature('Hm') };
  const turn = (...first: object[]) => [
    ...messages,
    { role: 'assistant', content: [...first, call('a')] },
    { role: 'user', content: [result('a')] },
    { role: 'assistant', content: [call('b')] },
    { role: 'user', content: [result('b')] },
  ];
  const thinking = { type: 'enabled', budget_tokens: 1024 };

  expect(read({ messages: turn(thought), thinking })).toBeDefined();
  expect(read({ messages: turn() })).toBeDefined();
  expect(read({ messages: turn(), thinking: { type: 'adaptive' } })).toBeDefined();
  expect(() => read({ messages: turn(), thinking })).toThrow('messages.1.content.0.type: Expected `thinking`');
});

it('accepts four cache marks and an empty result', () => {
  const conversation = [
    ...messages,
    {
      role: 'assistant',
      content: [{ type: 'tool_use', id: 'a', name: 'ls', input: {}, cache_control: marked.cache_control }],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: '' }, marked] },
  ];

  expect(
    read({ messages: conversation, system: [marked], tools: [{ ...tool, cache_control: marked.cache_control }] }),
  ).toBeDefined();
});

it('refuses a request that names no version', () => {
  expect(() => anthropicProtocol.read({ model: 'plain', max_tokens: 9, messages }, {})).toThrow('anthropic-version');
});
