import type { Message } from '@rondo/client';
import { editedTurns, newestQuestion } from './edited-turns.ts';

const message = (id: string, type: Message['type'], about: Partial<Message>) =>
  ({ id, type, is_llm_message: true, metadata: {}, content: [{ type: 'text', text: id }], ...about }) as Message;
const withdrawn = (by: string) => ({ is_llm_message: false, metadata: { superseded_by: by } });

describe('a conversation with edited questions', () => {
  const messages = [
    message('first', 'user', { run_id: 'run_1', ...withdrawn('run_2') }),
    message('first answer', 'assistant', { run_id: 'run_1', ...withdrawn('run_2') }),
    message('second', 'user', { run_id: 'run_2', ...withdrawn('run_3') }),
    message('third', 'user', { run_id: 'run_3' }),
    message('third answer', 'assistant', { run_id: 'run_3' }),
    message('told while it runs', 'user', { run_id: 'run_3' }),
  ];

  it('has what is asked now, and what it said before, through several edits', () => {
    const { current, former } = editedTurns(messages);

    expect(current.map(({ id }) => id)).toEqual(['third', 'third answer', 'told while it runs']);
    expect([...former]).toEqual([
      [
        'third',
        [
          { text: 'first', runId: 'run_1' },
          { text: 'second', runId: 'run_2' },
        ],
      ],
    ]);
  });

  it('its newest question is one that the model reads', () => {
    expect(newestQuestion(messages)?.id).toBe('told while it runs');
    expect(newestQuestion(messages.slice(0, 3))).toBeUndefined();
  });

  it.each([{ kind: 'fork_note' }, { file_problems: [] }, { database_replaced: true }])(
    'its newest question is not a note of Rondo to the agent, after which none can be edited: %j',
    (metadata) => {
      const note = message('note', 'user', { run_id: 'run_3', metadata });

      expect(newestQuestion([...messages, note])).toBeUndefined();
      expect(newestQuestion([note, ...messages])?.id).toBe('told while it runs');
    },
  );
});
