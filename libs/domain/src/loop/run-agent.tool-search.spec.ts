import { LedgeredTools, RunHarness, ScriptedModel, calls, says } from '../testing';
import { manyServerTools, serverTool } from '../testing/server-tools';

const serverTools = [...manyServerTools('crm', 400), serverTool('tickets__create', 'Opens a ticket.')];
const search = { name: 'tool_search', arguments: { query: 'open a ticket' } };
const create = { name: 'tickets__create', arguments: { title: 'It broke.' } };
const unseen = { name: 'crm__do_7', arguments: {} };

type Wish = (typeof search | typeof create | typeof unseen)[];

function build(...turns: readonly Wish[]) {
  const tools = new LedgeredTools();
  const model = new ScriptedModel([...turns.map((wanted) => calls(...wanted)), says('Done.')]);
  const harness = new RunHarness({ model, tools, serverTools, settings: { tools: ['ask'] } });
  /** What each request has beside what every request has. */
  const loaded = () => model.requests.map(({ tools: shown }) => shown.slice(3).map(({ name }) => name));
  return { harness, tools, loaded, model };
}

describe('a run with more tools than fit', () => {
  it('is offered what it has found from the next iteration on', async () => {
    const { harness, loaded, model } = build([search], [create]);

    await harness.runOn();

    expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(['ask', 'tool_search', 'expand_message']);
    expect(loaded()).toEqual([[], ['tickets__create'], ['tickets__create']]);
    expect(new Set(model.requests.map(({ system }) => system)).size).toBe(1);
    expect(harness.log.filter(({ type }) => type === 'tool.completed')).toMatchObject([
      { data: { name: 'tool_search', loaded_tools: ['tickets__create'] } },
      { data: { name: 'tickets__create' } },
    ]);
  });

  it('has a tool that it was not shown executed, and is shown it from then on', async () => {
    const { harness, tools, loaded } = build([unseen], [search]);

    await harness.runOn();

    expect(loaded()).toEqual([[], ['crm__do_7'], ['crm__do_7', 'tickets__create']]);
    expect(tools.effects.size).toBe(1);
  });

  it('is told how to find others where there is no such tool', async () => {
    const { harness, loaded } = build([{ name: 'tickets__delete', arguments: {} }]);

    await harness.runOn();

    expect(JSON.stringify(harness.log)).toContain('tool_search finds others.');
    expect(loaded()).toEqual([[], []]);
  });

  it('is offered the same after a crash at any step', async () => {
    const turns = [[search], [unseen], [create]];
    const whole = build(...turns);
    await whole.harness.runOn();
    const expected = new Map(whole.model.requests.map(({ messages, tools }) => [messages.length, tools]));

    for (let step = 0; step < whole.harness.log.length * 2; step += 1) {
      const { harness, model } = build(...turns);
      await harness.crashAt({ step, position: step % 2 === 0 ? 'before' : 'after' });
      await harness.runOn();

      expect(harness.store.status(harness.id)).toBe('completed');
      for (const { messages, tools } of model.requests) expect(tools).toEqual(expected.get(messages.length));
    }
  });

  it('may write calls in any dialect', async () => {
    for (const dialect of ['xml_invoke', 'xml_tag', 'json'] as const) {
      const tools = new LedgeredTools();
      const text = {
        xml_invoke: '<function_calls><invoke name="crm__do_7"></invoke></function_calls>',
        xml_tag: '<crm--do-7></crm--do-7>',
        json: '{"tool_name": "crm__do_7", "parameters": {}}',
      }[dialect];
      const model = new ScriptedModel([says(text), says(dialect === 'json' ? '{"tool_name": "none"}' : 'Done.')]);
      const harness = new RunHarness({ model, tools, serverTools, settings: { tools: [], processor: { dialect } } });

      await harness.runOn();

      expect([dialect, harness.log.filter(({ type }) => type === 'tool.planned')]).toMatchObject([
        dialect,
        [{ data: { loaded_tools: ['crm__do_7'] } }],
      ]);
    }
  });
});
