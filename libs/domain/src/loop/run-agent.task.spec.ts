import type { CallToSend } from '../ports';
import { LedgeredTools, RunHarness, ScriptedModel, calls, says } from '../testing';

/** A tool whose server makes a task of the call. `forgets`: the attempts whose answer is lost with the executor. */
function build({ forgets = [] }: { readonly forgets?: readonly number[] } = {}) {
  const sent: CallToSend[] = [];
  const tools = new LedgeredTools(
    (call) => {
      sent.push(call);
      return call.task ? 'done' : { task: { id: 'task 1' } };
    },
    ({ attempt }) => forgets.includes(attempt),
  );
  const model = new ScriptedModel([calls({ name: 'execute_command', arguments: { command: 'x' } }), says('All done.')]);
  return { harness: new RunHarness({ model, tools }), sent, tools };
}

const listFacts = ({ log }: RunHarness) =>
  log.map(({ type }) => type).filter((type) => type.startsWith('tool.') && type !== 'tool.planned');

describe('a call that becomes a task of its server', () => {
  it('is sent again to ask for that task, and takes effect once', async () => {
    const { harness, sent, tools } = build();

    await harness.runOn();

    expect(harness.store.status(harness.id)).toBe('completed');
    expect(sent.map(({ attempt, task }) => ({ attempt, task }))).toEqual([
      { attempt: 1, task: undefined },
      { attempt: 2, task: { id: 'task 1' } },
    ]);
    expect(listFacts(harness)).toEqual(['tool.started', 'tool.task_created', 'tool.started', 'tool.completed']);
    expect([...tools.effects.values()]).toEqual([1]);
  });

  it('is asked for anew when its executor dies, whatever the effect of the call', async () => {
    const { harness, sent, tools } = build({ forgets: [2, 3] });

    await harness.runOn();

    expect(harness.store.status(harness.id)).toBe('completed');
    expect(sent.map(({ task }) => task?.id)).toEqual([undefined, 'task 1', 'task 1', 'task 1']);
    expect(listFacts(harness)).not.toContain('tool.unknown');
    expect([...tools.effects.values()]).toEqual([1]);
  });
});
