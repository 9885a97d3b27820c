import fc from 'fast-check';
import type { Message } from '@rondo/contract';
import { anyHistory, toHistory } from '../testing/histories';
import { listTurns } from './turns';

/** Messages that a client imported into the thread belong to no iteration. */
const imported = (history: readonly Message[]): Message[] =>
  history.map((message) => ({ ...message, iteration: null, run_id: null }));

const idsIn = (messages: readonly Message[], type: 'tool_call' | 'tool_result'): string[] =>
  messages
    .flatMap(({ content }) => content.flatMap((block) => (block.type === type ? [block.tool_call_id] : [])))
    .sort();

it.each([
  ['of a run', (history: Message[]) => history],
  ['of an imported thread', imported],
])('a turn %s holds its calls with their results, and every message is in one', (_, prepare) => {
  fc.assert(
    fc.property(anyHistory(20), (history) => {
      const conversation = prepare(history);
      const turns = listTurns(conversation);

      expect(turns.flatMap(({ first, last }) => conversation.slice(first, last + 1))).toEqual(conversation);
      for (const { first, last } of turns) {
        const messages = conversation.slice(first, last + 1);
        expect(idsIn(messages, 'tool_result')).toEqual(idsIn(messages, 'tool_call'));
      }
    }),
  );
});

it('includes a user message between a call and its result', () => {
  const [task, reply, result] = toHistory([
    { kind: 'user', text: 'Go.' },
    { kind: 'reply', text: 'Reading.', calls: 1, parts: false, thinks: false, output: 'x' },
  ]) as [Message, Message, Message];

  expect(listTurns([task, reply, { ...task }, result])).toEqual([
    { first: 0, last: 0 },
    { first: 1, last: 3 },
  ]);
});

it('keeps the parts of a reply together', () => {
  const conversation = toHistory([
    { kind: 'user', text: 'Go.' },
    { kind: 'reply', text: 'Reading.', calls: 2, parts: true, thinks: false, output: 'x' },
  ]);

  expect(listTurns(conversation)).toEqual([
    { first: 0, last: 0 },
    { first: 1, last: conversation.length - 1 },
  ]);
});
