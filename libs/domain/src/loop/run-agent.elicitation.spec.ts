import type { CallId, InputAnswer } from '@rondo/contract';
import type { CallToSend } from '../ports';
import { LedgeredTools, RunHarness, ScriptedModel, calls, says } from '../testing';

const asked = (...keys: string[]) => ({
  state: 'signed',
  asked: keys.map((key) => ({ key, server: 'tickets', mode: 'form' as const, message: `${key}?`, fields: {} })),
});

/** A tool whose server asks these questions, round by round, before it is done. */
function build(...rounds: string[][]) {
  const sent: CallToSend[] = [];
  const tools = new LedgeredTools((call) => {
    sent.push(call);
    const keys = rounds[sent.length - 1];
    return keys ? asked(...keys) : 'done';
  });
  const model = new ScriptedModel([calls({ name: 'execute_command', arguments: { command: 'x' } }), says('All done.')]);
  return { harness: new RunHarness({ model, tools }), sent };
}

const waits = ({ log }: RunHarness) => {
  const last = log.findLast(({ type }) => type === 'run.waiting');
  return last?.type === 'run.waiting' ? (last.data.elicitations ?? []) : [];
};

function give(
  harness: RunHarness,
  key: string,
  answer: InputAnswer = { action: 'accept', content: { a: 1 } },
): boolean {
  const id: CallId | undefined = waits(harness)[0]?.tool_call_id;
  if (!id) throw new Error('nothing is asked');
  return harness.store.giveInput(harness.id, { tool_call_id: id, key, answer, answeredBy: 'key_1' });
}

describe('a call whose server asks people', () => {
  it('parks the run, and is sent once more with the answers', async () => {
    const { harness, sent } = build(['one', 'two']);

    await harness.runOn();
    expect(harness.store.status(harness.id)).toBe('waiting_input');
    expect(waits(harness).map(({ key, server }) => [key, server])).toEqual([
      ['one', 'tickets'],
      ['two', 'tickets'],
    ]);

    expect(give(harness, 'one')).toBe(true);
    expect(give(harness, 'one')).toBe(false);
    expect(harness.store.status(harness.id)).toBe('waiting_input');
    expect(give(harness, 'two', { action: 'decline' })).toBe(true);
    await harness.runOn();

    expect(harness.store.status(harness.id)).toBe('completed');
    expect(sent.map(({ attempt, input }) => ({ attempt, input }))).toEqual([
      { attempt: 1, input: undefined },
      {
        attempt: 2,
        input: {
          state: 'signed',
          answers: { one: { action: 'accept', content: { a: 1 } }, two: { action: 'decline' } },
        },
      },
    ]);
  });

  it('may ask in several rounds', async () => {
    const { harness, sent } = build(['one'], ['two']);

    await harness.runOn();
    give(harness, 'one');
    await harness.runOn();
    give(harness, 'two');
    await harness.runOn();

    expect(harness.store.status(harness.id)).toBe('completed');
    expect(sent.map(({ input }) => Object.keys(input?.answers ?? {}))).toEqual([[], ['one'], ['two']]);
  });

  it('is asked about before a call that needs approval, because the time to answer runs already', async () => {
    const model = new ScriptedModel([
      calls(
        { name: 'execute_command', arguments: { command: 'x' } },
        { name: 'read_file', arguments: { file_path: 'a.txt' } },
      ),
    ]);
    const tools = new LedgeredTools(({ input }) => (input ? 'done' : asked('one')));
    const settings = { tools: { execute_command: { require_approval: true } } };
    const harness = new RunHarness({ model, tools, settings });

    await harness.runOn();
    expect(waits(harness).map(({ name, key }) => [name, key])).toEqual([['read_file', 'one']]);
    expect(give(harness, 'one', { action: 'cancel' })).toBe(true);
    await harness.runOn();

    expect(harness.store.status(harness.id)).toBe('waiting_input');
    expect(harness.log.findLast(({ type }) => type === 'run.waiting')?.data).toMatchObject({ reason: 'approval' });
  });
});
