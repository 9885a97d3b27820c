import type { ModelChunk } from '../models/model';
import type { ToolAnswer, Tools } from '../ports';
import { RunHarness, ScriptedModel, type Turn, calls, finished, says } from '../testing';

const run = { name: 'execute_command', arguments: { command: 'date', blocking: true } };

function* endless(piece: (index: number) => ModelChunk[], times: number): Generator<ModelChunk> {
  for (let index = 0; index < times; index++) yield* piece(index);
}
const megabytes = (type: 'text' | 'reasoning', count: number): Turn => [
  ...endless(() => [{ type, text: 'x'.repeat(1_000_000) }], count),
  finished('stop'),
];
/** Each call twice: whole, and with what it leaves out. */
const measureSize = (harness: RunHarness): number => JSON.stringify(harness.log).length;

describe('attack: model and tool output', () => {
  it.each<'text' | 'reasoning'>(['text', 'reasoning'])(
    'a reply with 100 MB of %s is cut off at a million characters, and the run ends in order',
    async (type) => {
      const harness = new RunHarness({ model: new ScriptedModel([megabytes(type, 100)]) });

      await harness.activate();

      expect(measureSize(harness)).toBeLessThan(1_100_000);
      expect(harness.deltas.reduce((sum, { text }) => sum + text.length, 0)).toBe(1_000_000);
      expect(harness.log.at(-1)).toMatchObject({ type: 'run.completed', data: { finish_reason: 'length' } });
    },
  );

  it('a reply that is cut off at its limit each time is not continued beyond a million characters', async () => {
    const model = new ScriptedModel(
      Array.from({ length: 30 }, () => [{ type: 'text', text: 'x'.repeat(400_000) }, finished('length')] as const),
    );
    const harness = new RunHarness({ model, resolveBudget: () => 1_000_000 }); // so that the request always fits

    await harness.activate();

    expect(model.requests).toHaveLength(3);
    expect(harness.log.at(-1)).toMatchObject({ type: 'run.completed', data: { finish_reason: 'length' } });
  });

  it('a call with 50 MB of arguments is cut off and answered as malformed', async () => {
    const start: ModelChunk[] = [
      { type: 'call_start', index: 0, name: 'execute_command' },
      { type: 'call_arguments', index: 0, text: '{"command":"' },
    ];
    const arguments50: Turn = [
      ...start,
      ...endless(() => [{ type: 'call_arguments', index: 0, text: 'x'.repeat(1_000_000) }], 50),
      finished('tool_calls'),
    ];
    const harness = new RunHarness({ model: new ScriptedModel([arguments50, says('Sorry.')]) });

    await harness.activate();

    expect(measureSize(harness)).toBeLessThan(2_100_000);
    expect(harness.types.filter((type) => type === 'tool.failed')).toHaveLength(1);
    expect(harness.types).not.toContain('tool.started');
    expect(harness.store.status(harness.id)).toBe('completed');
  });

  it('10,000 tool calls in one reply are 100, and each of these is answered', async () => {
    const many = calls(...Array.from({ length: 10_000 }, () => run));
    const harness = new RunHarness({ model: new ScriptedModel([many, says('Done.')]) });

    await harness.activate();

    expect(harness.types.filter((type) => type === 'tool.planned')).toHaveLength(100);
    expect(harness.types.filter((type) => type === 'tool.completed')).toHaveLength(100);
    expect(harness.store.status(harness.id)).toBe('completed');
  });

  it.each([0, 100_000])(
    '10,000 tool calls in the text of one reply are 100, with a limit of %i',
    async (max_tool_calls) => {
      const call = '<invoke name="list_files"><parameter name="path">.</parameter></invoke>\n';
      const text = `<function_calls>\n${call.repeat(10_000)}</function_calls>`;
      const harness = new RunHarness({
        model: new ScriptedModel([[{ type: 'text', text }, finished('stop')], says('Done.')]),
        settings: { processor: { dialect: 'xml_invoke', max_tool_calls } },
      });

      await harness.activate();

      expect(harness.types.filter((type) => type === 'tool.planned')).toHaveLength(100);
      expect(harness.store.status(harness.id)).toBe('completed');
    },
  );

  it('a tool name of a million characters is cut off', async () => {
    const harness = new RunHarness({
      model: new ScriptedModel([calls({ name: 'x'.repeat(900_000), arguments: {} }), says('Sorry.')]),
    });

    await harness.activate();

    expect(measureSize(harness)).toBeLessThan(100_000);
    expect(harness.types).toContain('tool.failed');
    expect(harness.store.status(harness.id)).toBe('completed');
  });

  it.each<[string, ToolAnswer]>([
    ['output', { how: 'answered', result: { success: true, output: 'x'.repeat(5_000_000) }, durationMs: 1 }],
    ['error', { how: 'answered', result: { success: false, output: '', error: 'x'.repeat(5_000_000) }, durationMs: 1 }],
    ['reason', { how: 'unknown', reason: 'x'.repeat(5_000_000) }],
  ])('an executor that answers with 5 MB of %s is not believed that it is within its cap', async (_, given) => {
    const answer = () => Promise.resolve(given);
    const tools: Tools = { store: null, endRun: () => Promise.resolve([]), execute: answer, reattach: answer };
    const harness = new RunHarness({ model: new ScriptedModel([calls(run), says('Done.')]), tools });

    await harness.activate();

    expect(measureSize(harness)).toBeLessThan(300_000);
    expect(JSON.stringify(harness.log)).toContain('left out');
    expect(harness.store.status(harness.id)).toBe('completed');
  });
});
