import type { Message } from '@rondo/client';
import { messageRows } from './message-rows.ts';

const message = (id: string, type: Message['type'], content: unknown[]) =>
  ({ id, type, content, run_id: null, iteration: null, metadata: {} }) as unknown as Message;
const call = { type: 'tool_call', tool_call_id: 'call_1', name: 'shell', arguments: { command: 'ls' } };
const result = { type: 'tool_result', tool_call_id: 'call_1', name: 'shell', result: { success: false, output: 'no' } };

describe('the rows of stored messages', () => {
  it('a call has its result, and the message around it only if that says something', () => {
    const rows = messageRows([
      message('msg_1', 'user', [{ type: 'text', text: 'Look.' }]),
      message('msg_2', 'assistant', [call]),
      message('msg_3', 'tool', [result]),
      message('msg_4', 'assistant', [{ type: 'text', text: 'Empty.' }]),
    ]);
    expect(rows).toMatchObject([
      { id: 'msg_1', role: 'user', text: 'Look.' },
      { id: 'call_1', name: 'shell', status: 'failed', output: 'no' },
      { id: 'msg_4', role: 'assistant', text: 'Empty.' },
    ]);
  });

  it('a result without its call is left out', () => {
    expect(messageRows([message('msg_3', 'tool', [result])])).toEqual([]);
  });
});
