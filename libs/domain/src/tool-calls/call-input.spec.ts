import { type Elicitation, callId, messageId, runId, threadId } from '@rondo/contract';
import { giveInput, waitForConnections } from './call-input';

const now = '2026-11-28T12:00:00.000Z';
const [first, second] = [callId.parse('call_1'), callId.parse('call_2')];
const waits = waitForConnections(
  [
    { id: first, server: 'tickets', page: 'https://rondo.example/1' },
    { id: second, server: 'notes', page: 'https://rondo.example/2' },
  ],
  { now, settings: { approvals: { expires_s: 60, rules: {} } } },
);
const asked: readonly Elicitation[] = waits.type === 'run.waiting' ? (waits.data.elicitations ?? []) : [];
const answering = {
  run: { id: runId.parse('run_1'), threadId: threadId.parse('thr_1') },
  state: { iteration: 0, calls: new Map() },
  ports: { ids: { messageId: () => messageId.parse('msg_1') } },
};
const give = (id: typeof first, waiting = asked, key = 'rondo:connect') =>
  giveInput(answering, { tool_call_id: id, key, answer: { action: 'accept' }, answeredBy: 'key_1' }, waiting);

describe('a run that waits for connections before it starts', () => {
  it('asks for each of them, for as long as its approvals wait', () => {
    expect(asked).toMatchObject([
      { tool_call_id: 'call_1', server: 'tickets', mode: 'url', url: 'https://rondo.example/1' },
      { tool_call_id: 'call_2', server: 'notes', expires_at: '2026-11-28T12:01:00.000Z' },
    ]);
  });

  it('waits for the others after an answer, and goes on after the last', () => {
    expect(give(first)).toMatchObject([
      { type: 'tool.input_given', iteration: 0, data: { name: 'connect', action: 'accept' } },
      { type: 'run.waiting', data: { elicitations: [{ tool_call_id: 'call_2' }] } },
    ]);
    expect(give(second, asked.slice(1))).toMatchObject([{ type: 'tool.input_given' }, { type: 'run.resumed' }]);
  });

  it('takes no answer to what it does not ask', () => {
    expect(give(callId.parse('call_3'))).toBeUndefined();
    expect(give(first, asked.slice(1))).toBeUndefined();
    expect(give(first, asked, 'rondo:scopes')).toBeUndefined();
  });
});
