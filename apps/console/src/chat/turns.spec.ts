import type { Message } from '@rondo/client';
import { toTurns } from '@rondo/react';
import { toSteps } from './turns';

const message = (id: string, type: Message['type'], about: Partial<Message>) =>
  ({ id, type, run_id: 'run_1', iteration: 1, content: [], metadata: {}, is_llm_message: true, ...about }) as Message;
const calls = (id: string, ...names: string[]) =>
  message(id, 'assistant', {
    content: names.map((name) => ({ type: 'tool_call', tool_call_id: name, name, arguments: { text: 'Hello.' } })),
  });

describe('the steps of a conversation', () => {
  it('are the calls of each run, without those by which the agent speaks', () => {
    const turns = toTurns([
      message('q1', 'user', { content: [{ type: 'text', text: 'Go.' }] }),
      calls('a1', 'bash', 'ask'),
      message('q2', 'user', { run_id: 'run_2' }),
      { ...calls('a2', 'read_file'), run_id: 'run_2' },
    ]);

    expect(turns.map(({ runId }) => runId)).toEqual(['run_1', 'run_2']);
    expect(toSteps(turns).map(({ row, runId }) => [row.name, runId])).toEqual([
      ['bash', 'run_1'],
      ['read_file', 'run_2'],
    ]);
  });

  it('have the page that the browser showed, and the plan as it was then', () => {
    const image = { type: 'image', source: { type: 'blob', sha256: 'abc', media_type: 'image/png' } };
    const plan = (done: boolean, callId: string) =>
      message(`plan of ${callId}`, 'status', {
        metadata: { kind: 'plan_updated', items: [{ text: 'Write it', done }], tool_call_id: callId },
      });
    const steps = toSteps(
      toTurns([
        calls('a1', 'create_file'),
        plan(false, 'create_file'),
        calls('a2', 'browser_navigate_to'),
        message('b', 'browser_state', {
          content: [image] as Message['content'],
          metadata: { tool_call_id: 'browser_navigate_to', browser: { url: 'http://a/', title: 'A' } },
        }),
        calls('a3', 'str_replace'),
        plan(true, 'str_replace'),
      ]),
    );

    expect(steps.map(({ plan: shown, isOfPlan }) => [shown[0]?.isDone, isOfPlan])).toEqual([
      [false, true],
      [false, false],
      [true, true],
    ]);
    expect(steps[1]?.screen).toEqual({ url: 'http://a/', title: 'A', sha256: 'abc' });
  });
});
