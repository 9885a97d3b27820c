import fc from 'fast-check';
import { type Message, callId, messageId, sha256, threadId } from '@rondo/contract';
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
