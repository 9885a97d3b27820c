import fc from 'fast-check';
import { type Message, callId, messageId, partIdAt, sha256, threadId } from '@rondo/contract';
import { withDocuments } from '../files/message-documents';
import { requestViolations } from '../testing/request-violations';
import { pairCalls } from './pair-calls';

let seq = 0;
const said = (type: Message['type'], content: Message['content']): Message => {
  seq += 1;
  return {
    id: messageId.parse(`msg_${seq}`),
    thread_id: threadId.parse('thr_1'),
    run_id: null,
    iteration: null,
    seq,
    type,
    is_llm_message: true,
    content,
    metadata: {},
    created_at: '2026-01-01T00:00:00.000Z',
  };
};

/** Any conversation that a thread may hold: results that are late, missing, doubled or orphaned, and empty texts. */
const anyConversation = fc.array(
  fc.oneof(
    fc.constantFrom('', '  ', 'hello').map((text) => said('user', [{ type: 'text', text }])),
    fc
      .record({
        text: fc.constantFrom('', 'thinking aloud'),
        ids: fc.uniqueArray(fc.integer({ min: 0, max: 9 }), { maxLength: 3 }),
      })
      .map(({ text, ids }) =>
        said('assistant', [
          { type: 'text', text },
          ...ids.map((id) => ({
            type: 'tool_call' as const,
            tool_call_id: callId.parse(`call_${seq}x${id}`),
            name: 't',
            arguments: {},
          })),
        ]),
      ),
    fc.integer({ min: 0, max: 40 }).chain((message) =>
      fc.integer({ min: 0, max: 9 }).map((id) =>
        said('tool', [
          {
            type: 'tool_result',
            tool_call_id: callId.parse(`call_${message}x${id}`),
            name: 't',
            result: { success: true, output: '' },
          },
        ]),
      ),
    ),
    fc.constant(null).map(() => said('assistant', [{ type: 'reasoning', text: 'only thought' }])),
  ),
  { maxLength: 25 },
);

/** Every call is answered. */
const isSettled = (conversation: readonly Message[]): boolean => {
  const blocks = conversation.flatMap(({ content }) => content);
  const answered = new Set(blocks.flatMap((block) => (block.type === 'tool_result' ? [block.tool_call_id] : [])));
  return blocks.every((block) => block.type !== 'tool_call' || answered.has(block.tool_call_id));
};

describe('pairCalls', () => {
  it('makes a valid request of any conversation (I6)', () => {
    fc.assert(
      fc.property(anyConversation, (conversation) => {
        const messages = pairCalls(conversation);

        expect(requestViolations(messages)).toEqual([]);
        if (messages.length > 0) expect(messages.at(-1)?.role).not.toBe('assistant');
      }),
      { numRuns: 500 },
    );
  });

  it('gives the same turns whether a conversation grew or came whole, and reuses those of the settled part', () => {
    fc.assert(
      fc.property(anyConversation, (conversation) => {
        let before: readonly unknown[] = [];
        for (let length = 1; length <= conversation.length; length++) {
          const grown = conversation.slice(0, length);
          const messages = pairCalls(grown);
          expect(messages).toEqual(pairCalls(structuredClone(grown)));
          if (isSettled(grown)) {
            expect(before.slice(0, -1).every((turn, at) => turn === messages[at])).toBe(true);
            before = messages;
          } else before = [];
        }
      }),
      { numRuns: 500 },
    );
  });

  it('keeps the newest user message', () => {
    fc.assert(
      fc.property(anyConversation, (conversation) => {
        const messages = pairCalls([...conversation, said('user', [{ type: 'text', text: 'the newest' }])]);

        expect(JSON.stringify(messages.at(-1))).toContain('the newest');
      }),
    );
  });
});

describe('a reply that was stored in parts', () => {
  const thought = { type: 'reasoning', text: 'Two at once.', opaque: { maker: 'm', data: 'signed' } } as const;
  const call = (name: string) =>
    ({ type: 'tool_call', tool_call_id: callId.parse(`call_${name}`), name: 't', arguments: {} }) as const;
  const answer = (name: string) =>
    said('tool', [
      {
        type: 'tool_result',
        tool_call_id: callId.parse(`call_${name}`),
        name: 't',
        result: { success: true, output: name },
      },
    ]);
  const question = said('user', [{ type: 'text', text: 'Go.' }]);
  const first = said('assistant', [thought, call('a')]);
  const part = (index: number, content: Message['content']) => ({
    ...said('assistant', content),
    id: partIdAt(first.id, index),
  });
  const shown = (conversation: Message[]) =>
    pairCalls(conversation).map((turn) => {
      if (turn.role === 'tool') return turn.results.map(({ text }) => text).join();
      return turn.content.map((block) => (block.type === 'tool_call' ? block.id : block.type)).join();
    });

  it('goes back as the one reply that it was, with its thought before all of its calls', () => {
    const second = part(1, [call('b')]);
    const whole = ['text', 'reasoning,call_a,call_b', 'a,b'];

    expect(shown([question, first, second, answer('a'), answer('b')])).toEqual(whole);
    expect(shown([question, first, answer('a'), second, answer('b')])).toEqual(whole);
    expect(shown([question, first, second, answer('b'), answer('a')])).toEqual(whole);
  });

  it('has the text after its last call before the results', () => {
    const rest = part(1, [{ type: 'text', text: 'Let us see.' }]);

    expect(shown([question, first, answer('a'), rest])).toEqual(['text', 'reasoning,call_a,text', 'a']);
  });

  it('stays one where a person wrote in between', () => {
    const remark = said('user', [{ type: 'text', text: 'Hurry.' }]);
    const conversation = [question, first, answer('a'), remark, part(1, [call('b')]), answer('b')];

    expect(shown(conversation)).toEqual(['text', 'reasoning,call_a,call_b', 'a,b', 'text']);
  });

  it('is no other reply', () => {
    const other = said('assistant', [call('b')]);

    expect(shown([question, first, answer('a'), other, answer('b')])).toEqual([
      ...['text', 'reasoning,call_a', 'a'],
      ...['call_b', 'b'],
    ]);
  });

  it('is the same whether the conversation grew or came whole', () => {
    const conversation = [
      question,
      first,
      answer('a'),
      part(1, [call('b')]),
      answer('b'),
      part(2, [call('c')]),
      answer('c'),
    ];

    for (let length = 1; length <= conversation.length; length++) {
      const grown = conversation.slice(0, length);
      expect(pairCalls(grown)).toEqual(pairCalls(structuredClone(grown)));
    }
    expect(shown(conversation)).toEqual(['text', 'reasoning,call_a,call_b,call_c', 'a,b,c']);
  });
});

it('shows the PDFs of a message before its text', () => {
  const document = { name: 'a.pdf', sha256: sha256.parse('a'.repeat(64)), pages: 2 };
  const message = withDocuments(said('user', [{ type: 'text', text: 'Read.' }]), [document]);
  expect(pairCalls([message])).toEqual([
    {
      role: 'user',
      content: [
        { type: 'document', ...document },
        { type: 'text', text: 'Read.' },
      ],
    },
  ]);
  expect(pairCalls([withDocuments(message, [])])).toEqual([
    { role: 'user', content: [{ type: 'text', text: 'Read.' }] },
  ]);
});
