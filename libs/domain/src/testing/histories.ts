import fc from 'fast-check';
import { type Message, type MessageId, callId, messageId, partIdAt, runId, threadId } from '@rondo/contract';

/** The run and the model of the histories. */
export const historyRun = { id: runId.parse('run_1'), model: 'demo/coder' };

/** A turn of a history: a user message, or a reply with calls. */
export type TurnPlan =
  | { readonly kind: 'user'; readonly text: string }
  | {
      readonly kind: 'reply';
      readonly text: string;
      readonly calls: number;
      readonly parts: boolean;
      readonly thinks: boolean;
      readonly output: string;
    };

const words = fc
  .integer({ min: 0, max: 12 })
  .map((length) => 'some words of it, '.repeat(2 ** length).slice(0, 2 ** length * 3));

const anyTurn: fc.Arbitrary<TurnPlan> = fc.oneof(
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('user' as const), text: words.map((text) => `do ${text}`) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('reply' as const),
      text: words,
      calls: fc.integer({ min: 0, max: 3 }),
      parts: fc.boolean(),
      thinks: fc.boolean(),
      output: words,
    }),
  },
);

/** A conversation as runs leave it: it begins with a user message, and every call has its result. */
export const anyHistory = (maxLength: number): fc.Arbitrary<Message[]> =>
  fc.array(anyTurn, { maxLength }).map((turns) => toHistory([{ kind: 'user', text: 'The task.' }, ...turns]));

export function toHistory(turns: readonly TurnPlan[]): Message[] {
  const messages: Message[] = [];
  const add = (id: MessageId, iteration: number | null, rest: Pick<Message, 'type' | 'content'>): void => {
    messages.push({
      id,
      thread_id: threadId.parse('thr_1'),
      run_id: historyRun.id,
      iteration,
      seq: messages.length + 1,
      is_llm_message: true,
      metadata: rest.type === 'assistant' ? { model: historyRun.model } : {},
      created_at: '2026-01-01T00:00:00.000Z',
      ...rest,
    });
  };
  turns.forEach((turn, at) => {
    const id = messageId.parse(`msg_${at}`);
    if (turn.kind === 'user') add(id, null, { type: 'user', content: [{ type: 'text', text: turn.text }] });
    else addReply(turn, { id, at, add });
  });
  return messages;
}

function addReply(
  turn: Extract<TurnPlan, { kind: 'reply' }>,
  {
    id,
    at,
    add,
  }: {
    id: MessageId;
    at: number;
    add: (id: MessageId, iteration: number, rest: Pick<Message, 'type' | 'content'>) => void;
  },
): void {
  const ids = Array.from({ length: turn.calls }, (_, index) => callId.parse(`call_${at}x${index}`));
  const calls = ids.map((tool_call_id): Message['content'][number] => ({
    type: 'tool_call',
    tool_call_id,
    name: 'read_file',
    arguments: { file_path: turn.output },
  }));
  const opaque = { maker: 'demo/model', data: 'signed', ...(turn.output === '' && { bound: true as const }) };
  const thought: Message['content'] = turn.thinks ? [{ type: 'reasoning', text: 'Hm.', opaque }] : [];
  const text: Message['content'] = [{ type: 'text', text: turn.text === '' ? 'On it.' : turn.text }];
  const parts =
    turn.parts && calls.length > 1
      ? [[...thought, ...text, ...calls.slice(0, 1)], calls.slice(1)]
      : [[...thought, ...text, ...calls]];
  parts.forEach((content, part) => add(partIdAt(id, part), at, { type: 'assistant', content }));
  for (const tool_call_id of ids) {
    const result = { success: true, output: turn.output };
    add(messageId.parse(`msg_${at}r${tool_call_id.slice(-1)}`), at, {
      type: 'tool',
      content: [{ type: 'tool_result', tool_call_id, name: 'read_file', result }],
    });
  }
}
