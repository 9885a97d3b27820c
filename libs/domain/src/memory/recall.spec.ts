import { type Message, callId, messageId, runId } from '@rondo/contract';
import type { PastCall, ThreadArchive } from '../ports';
import { toHistory, historyRun } from '../testing/histories';
import { plannedCall } from '../testing/planned-call';
import { builtInTools } from '../tools/catalog';
import { answerInLoop, recall } from './in-loop-tools';

const conversation: readonly Message[] = toHistory([{ kind: 'user', text: 'Go.' }]);
const [first] = conversation;
if (!first) throw new Error('it has a message');

const covered: Message = {
  ...first,
  id: messageId.parse('msg_covered'),
  content: [{ type: 'text', text: 'long ago' }],
};
const wrote = (id: string, content: string): PastCall => ({
  id: callId.parse(id),
  runId: runId.parse('run_before'),
  arguments: { action: 'write', content },
});

const archive: ThreadArchive = {
  message: (id) => Promise.resolve(id === covered.id ? covered : undefined),
  listSucceeded: (tool) =>
    Promise.resolve(tool === 'simple_memory' ? [wrote('call_1', 'red'), wrote('call_2', 'blue')] : []),
};

const ask = async (name: string, input: Record<string, unknown>, known = conversation) => {
  const call = plannedCall({ name, arguments: input, run_id: historyRun.id, message_id: first.id });
  return answerInLoop(call, await recall(call, known, archive), { settings: { profile: 'suna' }, tools: builtInTools });
};

describe('recall', () => {
  it('finds a message that a summary stands for', async () => {
    expect(await ask('expand_message', { message_id: 'msg_covered', start: 0 })).toMatchObject({ output: 'long ago' });
    expect(await ask('expand_message', { message_id: 'msg_nowhere', start: 0 })).toMatchObject({ success: false });
  });

  it('knows the notebook as it was left before what the conversation has, and takes nothing for written twice', async () => {
    const again = wrote('call_2', 'blue');
    const block = {
      type: 'tool_call' as const,
      tool_call_id: again.id,
      name: 'simple_memory',
      arguments: again.arguments,
    };
    const reply: Message = { ...first, id: messageId.parse('msg_reply'), type: 'assistant', content: [block] };

    expect(await ask('simple_memory', { action: 'read' })).toMatchObject({ output: 'blue' });
    expect(await ask('simple_memory', { action: 'read' }, [...conversation, reply])).toMatchObject({ output: 'blue' });
  });

  it('asks for nothing where the conversation is whole', async () => {
    const call = plannedCall({ name: 'simple_memory', arguments: { action: 'read' } });

    expect(await recall(call, conversation, undefined)).toBe(conversation);
  });
});
