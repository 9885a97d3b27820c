import { type SettingsRequest, isTerminal } from '@rondo/contract';
import { LedgeredTools, RunHarness, ScriptedModel, SimulatedProgram, calls, says } from '../testing';
import type { WantedCall } from '../testing/simulated-program';

const read: WantedCall = { name: 'read_file', arguments: { file_path: 'a.txt' } };
const make: WantedCall = { name: 'execute_command', arguments: { command: 'make', blocking: true } };
const program = { name: 'run_program', arguments: { language: 'node', source: '…' } };

interface Building {
  readonly batches: readonly (readonly WantedCall[])[];
  readonly settings?: SettingsRequest;
  /** Attempts of the program whose executor dies. */
  readonly lost?: readonly number[];
}

function build({ batches, settings = {}, lost = [] }: Building) {
  const simulated = new SimulatedProgram(batches);
  const tools = new LedgeredTools(
    (call) => (call.name === 'run_program' ? simulated.run(call) : `did ${call.name} in secret`),
    ({ name, attempt }) => name === 'run_program' && lost.includes(attempt),
  );
  const model = new ScriptedModel([calls(program), says('All done.')]);
  const harness = new RunHarness({ model, tools, settings: { tools: { code: true }, ...settings } });
  return { harness, simulated, tools, model };
}

const listCalls = ({ log }: RunHarness) =>
  log.flatMap((fact) => (fact.type === 'tool.planned' ? [fact.data.tool_call] : []));

const listTold = ({ log }: RunHarness) =>
  log.flatMap((fact) =>
    fact.type === 'tool.completed' || fact.type === 'tool.failed' || fact.type === 'tool.unknown'
      ? [fact.data.name]
      : [],
  );

const findResult = ({ log }: RunHarness, name: string) =>
  log.flatMap((fact) =>
    (fact.type === 'tool.completed' || fact.type === 'tool.failed') && fact.data.name === name
      ? [fact.data.result]
      : [],
  )[0];

describe('a program that calls tools', () => {
  it('makes calls of the run, and the model reads only what the program says', async () => {
    const { harness, simulated, tools, model } = build({ batches: [[read, make], [make]] });

    await harness.runOn();

    expect(harness.store.status(harness.id)).toBe('completed');
    expect(simulated.runs).toEqual([0, 2, 3]);
    const [parent, ...inner] = listCalls(harness);
    expect(inner.map(({ name, effect_class, program: place }) => ({ name, effect_class, place }))).toEqual([
      {
        name: 'read_file',
        effect_class: 'pure',
        place: { call_id: parent?.id, position: 0, digest: JSON.stringify(read) },
      },
      { name: 'execute_command', effect_class: 'unsafe', place: expect.objectContaining({ position: 1 }) as unknown },
      { name: 'execute_command', effect_class: 'unsafe', place: expect.objectContaining({ position: 2 }) as unknown },
    ]);
    expect(listTold(harness).at(-1)).toBe('run_program');
    expect(inner.map(({ id }) => tools.effects.get(id))).toEqual([1, 1, 1]);
    const [last] = model.requests.at(-1)?.messages.filter(({ role }) => role === 'tool') ?? [];
    expect(JSON.stringify(last)).toContain('It was told: did read_file in secret');
    expect(last?.role === 'tool' && last.results).toHaveLength(1);
  });

  it('is offered instead of the tools that it calls, of which the model sees an index', () => {
    const { harness } = build({ batches: [] });
    const plain = new RunHarness({ model: new ScriptedModel([]) });

    expect(harness.settings.tools).toEqual([...plain.settings.tools, 'run_program']);
  });

  it('cannot call what ends the turn, itself, or what the run does not have', async () => {
    const { harness, tools } = build({
      batches: [[{ name: 'complete', arguments: {} }, program, { name: 'deploy', arguments: {} }, read]],
    });

    await harness.runOn();

    expect(listTold(harness)).toEqual(['complete', 'run_program', 'deploy', 'read_file', 'run_program']);
    expect(tools.effects.size).toBe(2);
    expect(harness.store.status(harness.id)).toBe('completed');
  });

  it('is called by the model through the program only', async () => {
    const tools = new LedgeredTools();
    const model = new ScriptedModel([calls(read), says('All done.')]);
    const harness = new RunHarness({ model, tools, settings: { tools: { code: true } } });

    await harness.runOn();

    expect(findResult(harness, 'read_file')?.error).toContain('use run_program');
    expect(tools.effects.size).toBe(0);
  });

  it.each(['parallel', 'sequential'] as const)(
    'parks for an approval of one of its calls, tools %s',
    async (strategy) => {
      const { harness, tools, simulated } = build({
        batches: [[read], [make]],
        settings: {
          tools: { code: true, execute_command: { require_approval: true, only: true } },
          processor: { tool_execution_strategy: strategy },
        },
      });

      await harness.runOn();
      expect(harness.store.status(harness.id)).toBe('waiting_input');
      const [asked] = listCalls(harness).filter(({ name }) => name === 'execute_command');
      if (!asked) throw new Error('no command was asked for');
      expect(simulated.runs).toEqual([0, 1]);

      harness.store.decide(harness.id, asked.id, { outcome: 'deny', decidedBy: 'key_1', argumentsHash: null });
      await harness.runOn();

      expect(harness.store.status(harness.id)).toBe('completed');
      expect(tools.effects.get(asked.id)).toBeUndefined();
      expect(findResult(harness, 'run_program')?.output).toContain('A person denied this call');
    },
  );

  it('goes on after its executor died, with the same answers, again and again', async () => {
    const { harness, simulated, tools } = build({ batches: [[make], [make], [make]], lost: [1, 2, 4, 5, 7] });

    await harness.runOn();

    expect(harness.store.status(harness.id)).toBe('completed');
    expect(simulated.runs).toEqual([0, 0, 0, 1, 1, 1, 2, 2, 3]);
    const inner = listCalls(harness).slice(1);
    expect(inner.map(({ id }) => tools.effects.get(id))).toEqual([1, 1, 1]);
  });

  it('is given up when three executors in a row died with it', async () => {
    const { harness } = build({ batches: [[make], [make]], lost: [2, 3, 4] });

    await harness.runOn();

    expect(harness.log.filter(({ type }) => type === 'tool.unknown')).toHaveLength(3);
    expect(isTerminal(harness.store.status(harness.id))).toBe(true);
  });

  it('is ended when it makes too many calls, or too many at a time', async () => {
    const crowd = Array.from({ length: 21 }, () => read);
    const all = Array.from({ length: 201 }, () => [read]);
    for (const batches of [[crowd], all]) {
      const { harness } = build({ batches });
      await harness.runOn();
      expect(findResult(harness, 'run_program')?.error).toMatch('The program was ended: it made more than');
      expect(listCalls(harness).length).toBeLessThanOrEqual(201);
    }
  });

  it('is nothing that the answer to another call can begin', async () => {
    const tools = new LedgeredTools(() => ({ requests: [{ ...make, position: 0, digest: 'x' }] }));
    const model = new ScriptedModel([calls(make), says('All done.')]);
    const harness = new RunHarness({ model, tools, settings: {} });

    await harness.runOn();

    expect(findResult(harness, 'execute_command')?.error).toBe('execute_command is no program.');
    expect(listCalls(harness)).toHaveLength(1);
  });

  it('learns that a call of it may have taken effect', async () => {
    const simulated = new SimulatedProgram([[make]]);
    const tools = new LedgeredTools(
      (call) => (call.name === 'run_program' ? simulated.run(call) : 'done'),
      ({ name }) => name === 'execute_command',
    );
    const model = new ScriptedModel([calls(program), says('All done.')]);
    const harness = new RunHarness({ model, tools, settings: { tools: { code: true } } });

    await harness.runOn();

    expect(findResult(harness, 'run_program')?.output).toContain('It may have taken effect or not');
    expect(Math.max(...tools.effects.values())).toBeLessThanOrEqual(2);
  });
});
