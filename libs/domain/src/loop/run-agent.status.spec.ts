import type { NewMessage } from '@rondo/contract';
import type { Tools } from '../ports';
import { LedgeredTools, RunHarness, ScriptedModel, calls, says } from '../testing';

const statusMessages = ({ log }: RunHarness): NewMessage[] =>
  log.flatMap((fact) =>
    fact.type === 'message.created' && fact.data.message.type === 'status' ? [fact.data.message] : [],
  );

const plan = { items: [{ text: 'Read', done: true }], done: 1, total: 2 };

/** Tools of which each call changes the plan. */
function planningTools(): Tools {
  const tools = new LedgeredTools();
  return {
    store: tools.store,
    execute: async (call, signal) => ({ ...(await tools.execute(call, signal)), plan }),
    reattach: (call, signal) => tools.reattach(call, signal),
    endRun: () => tools.endRun(),
  };
}

describe('what is shown to people and to no model', () => {
  it('message_user shows a text and does not end the run', async () => {
    const model = new ScriptedModel([
      calls({ name: 'message_user', arguments: { text: 'Half done.' } }),
      says('Done.'),
    ]);
    const harness = new RunHarness({ model, settings: { profile: 'ii' } });

    await harness.activate();

    expect(statusMessages(harness)).toMatchObject([
      { is_llm_message: false, content: [{ type: 'text', text: 'Half done.' }], metadata: { kind: 'message_to_user' } },
    ]);
    expect(model.requests[1]?.messages.at(-1)).toMatchObject({ role: 'tool' });
    expect(harness.log.at(-1)).toMatchObject({ type: 'run.completed', data: { finish_reason: 'stop' } });
  });

  it('message_user shows nothing where its arguments are wrong', async () => {
    const model = new ScriptedModel([calls({ name: 'message_user', arguments: { text: 7 } }), says('Done.')]);
    const harness = new RunHarness({ model, settings: { profile: 'ii' } });

    await harness.activate();

    expect(statusMessages(harness)).toEqual([]);
    expect(harness.types).toContain('tool.failed');
  });

  it('a call that changes todo.md shows the progress of the plan', async () => {
    const command = { name: 'execute_command', arguments: { command: 'date', blocking: true } };
    const model = new ScriptedModel([calls(command), says('Done.')]);
    const harness = new RunHarness({ model, tools: planningTools() });

    await harness.activate();

    expect(statusMessages(harness)).toMatchObject([
      { content: [{ type: 'text', text: 'Plan: 1 of 2 done.' }], metadata: { kind: 'plan_updated', ...plan } },
    ]);
    expect(JSON.stringify(model.requests[1])).not.toContain('Plan: 1 of 2');
  });
});
