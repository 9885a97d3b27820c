import { type CallId, callId, isTerminalFact, messageId } from '@rondo/contract';
import { RunHarness, ScriptedModel, calls, says } from '../testing';
import { requestViolations } from '../testing/request-violations';
import { type LostCall, noteReplacedDatabase } from './unknown-calls';

const command = { name: 'execute_command', arguments: { command: 'make', blocking: true } };
const script = [calls(command), calls(command, command), says('All done.')];

const lost: LostCall = {
  id: callId.parse('call_lost'),
  name: 'execute_command',
  calledWith: JSON.stringify({ command: 'rm everything' }),
};

const ids = { messageId: () => messageId.parse('msg_after') };

/** A run of which everything after a step was lost, with these calls in it. The first request after that. */
async function goOnAfter(step: number, calls: readonly LostCall[]) {
  const model = new ScriptedModel(script);
  const harness = new RunHarness({ model });
  await harness.crashAt({ step, position: 'after' });
  if (harness.log.some(isTerminalFact)) return undefined;
  const claim = await harness.store.claim(harness.id, 'worker');
  if (!claim) throw new Error('it is not claimed');
  const before = model.requests.length;
  await harness.store.append(claim, noteReplacedDatabase(claim, calls, ids));
  await harness.store.handOver(claim);
  await harness.runOn();
  return { harness, requests: model.requests.slice(before) };
}

const listed = (harness: RunHarness, id: CallId) =>
  harness.log.flatMap(({ type, data }) =>
    'tool_call' in data
      ? data.tool_call.id === id
        ? [type]
        : []
      : 'tool_call_id' in data && data.tool_call_id === id
        ? [type]
        : [],
  );

describe('a run whose database was replaced', () => {
  it('tells the model of the calls that were lost, wherever that was, and never sends them', async () => {
    for (let step = 0; ; step += 1) {
      const after = await goOnAfter(step, [lost]);
      if (!after) break;
      const { harness, requests } = after;

      expect(listed(harness, lost.id)).toEqual(['tool.planned', 'tool.unknown']);
      expect(harness.log.at(-1)?.type).toBe('run.completed');
      expect(requests.flatMap(({ messages }) => requestViolations(messages))).toEqual([]);
      for (const { messages } of requests) expect(JSON.stringify(messages)).toContain('rm everything');
    }
  });

  it('tells the model nothing where no call was lost', async () => {
    const after = await goOnAfter(3, []);

    expect(after?.harness.types.filter((type) => type === 'database.replaced')).toHaveLength(1);
    expect(JSON.stringify(after?.requests)).not.toContain('Note from the system');
  });

  it('shows long arguments as far as they were kept', async () => {
    const after = await goOnAfter(3, [{ ...lost, calledWith: '{"file_contents":"aaa' }]);

    expect(after?.harness.log.filter(({ type }) => type === 'tool.planned')).toContainEqual(
      expect.objectContaining({
        data: {
          tool_call: expect.objectContaining({ id: lost.id, arguments: { cut: '{"file_contents":"aaa' } }) as unknown,
        },
      }),
    );
  });
});
