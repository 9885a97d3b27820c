import { type Message, messageId, runId } from '@rondo/contract';
import fc from 'fast-check';
import type { ModelMessage } from '../models/model';
import { initialContext } from '../run/context-state';
import { anyHistory } from '../testing/histories';
import { requestViolations } from '../testing/request-violations';
import { messagesForNextRun } from './messages-for-next-run';
import { pairCalls } from './pair-calls';
import { toContext } from './to-context';

const next = runId.parse('run_next');
const question = { type: 'text' as const, text: 'And now?' };

const inputAfter = (history: readonly Message[]): Message => ({
  ...{ id: messageId.parse('msg_input'), thread_id: history[0]?.thread_id ?? ('thr_1' as never), run_id: next },
  ...{ iteration: null, seq: history.length + 1, type: 'user', is_llm_message: true, metadata: {} },
  ...{ content: [question], created_at: '2026-01-01T00:00:00.000Z' },
});

/** A request goes on with the input, in the same turn where the thread ended with words of a user. */
function withQuestion(messages: readonly ModelMessage[]): ModelMessage[] {
  const last = messages.at(-1);
  return last?.role === 'user'
    ? [...messages.slice(0, -1), { role: 'user', content: [...last.content, question] }]
    : [...messages, { role: 'user', content: [question] }];
}

const withoutReasoning = (turn: ModelMessage): ModelMessage =>
  turn.role === 'assistant' ? { ...turn, content: turn.content.filter(({ type }) => type !== 'reasoning') } : turn;

describe('the messages for the next run of a thread', () => {
  it('are the beginning of its first request but for reasoning, and valid (I6)', () => {
    fc.assert(
      fc.property(anyHistory(20), (history) => {
        const conversation = [...history, inputAfter(history)];
        const sent = toContext(conversation, initialContext, { runId: next, model: 'demo/coder', keepImages: 3 });
        const request = pairCalls(sent.map(({ message }) => message) as Message[]);

        const messages = withQuestion(messagesForNextRun(history));

        expect(messages).toEqual(request.map(withoutReasoning));
        expect(requestViolations(messages)).toEqual([]);
      }),
    );
  });

  it('are none in an empty thread', () => {
    expect(messagesForNextRun([])).toEqual([]);
  });
});
