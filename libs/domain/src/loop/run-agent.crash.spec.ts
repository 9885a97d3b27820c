import { isTerminalFact } from '@rondo/contract';
import { LedgeredTools, RunHarness, ScriptedModel, calls, says } from '../testing';
import type { Turn } from '../testing/scripted-model';

const read = { name: 'read_file', arguments: { file_path: 'a.txt' } };
const write = { name: 'create_file', arguments: { file_path: 'a.txt', file_contents: 'x' } };
const command = { name: 'execute_command', arguments: { command: 'make', blocking: true } };

const script: Turn[] = [
  calls(write),
  calls(command, read, command),
  calls({ name: 'fly', arguments: {} }, read),
  says('All done.'),
];

const build = (strategy: 'parallel' | 'sequential') => {
  const tools = new LedgeredTools();
  const harness = new RunHarness({
    model: new ScriptedModel(script),
    tools,
    settings: { processor: { tool_execution_strategy: strategy } },
  });
  return { harness, tools };
};

/** Crashes one worker after the other, then lets the run end. */
async function crashAt(harness: RunHarness, crashes: readonly Parameters<RunHarness['crashAt']>[0][]): Promise<void> {
  for (const crash of crashes) await harness.crashAt(crash);
  while (await harness.activate());
}

const readSteps = async (strategy: 'parallel' | 'sequential'): Promise<number> => {
  let steps = 0;
  await build(strategy).harness.activate((_, at) => {
    if (at === 'after') steps++;
  });
  return steps;
};

describe.each(['parallel', 'sequential'] as const)('a run whose worker is killed, tools %s', (strategy) => {
  it.each(['before', 'after'] as const)('ends the same %s every single write (I2, I4, I5, I6)', async (position) => {
    const steps = await readSteps(strategy);
    expect(steps).toBeGreaterThan(20);

    for (let step = 0; step < steps; step++) {
      const { harness, tools } = build(strategy);
      await crashAt(harness, [{ step, position }]);
      expectWhole(harness, tools, `crash ${position} step ${step}`);
    }
  });

  it('ends the same when its second worker is killed too, anywhere', async () => {
    const steps = await readSteps(strategy);
    for (let first = 0; first < steps; first += 3) {
      for (let second = 0; second < steps; second += 4) {
        const { harness, tools } = build(strategy);
        await crashAt(harness, [
          { step: first, position: 'after' },
          { step: second, position: 'before' },
        ]);
        expectWhole(harness, tools, `crashes at ${first} and ${second}`);
      }
    }
  });
});

function expectWhole(harness: RunHarness, tools: LedgeredTools, about: string): void {
  const { log } = harness;
  const ends = log.filter(isTerminalFact);
  const ask = { about, seqs: log.map(({ seq }) => seq), ends: ends.map(({ type }) => type), last: log.at(-1)?.type };
  expect(ask).toEqual({
    about,
    seqs: log.map((_, index) => index + 1),
    ends: ['run.completed'],
    last: 'run.completed',
  });

  const planned = log.flatMap((fact) => (fact.type === 'tool.planned' ? [fact.data.tool_call] : []));
  const answered = log.flatMap((fact) =>
    fact.type === 'tool.completed' || fact.type === 'tool.failed' || fact.type === 'tool.unknown'
      ? [fact.data.tool_call_id]
      : [],
  );
  expect(answered.toSorted()).toEqual(planned.map(({ id }) => id).toSorted());
  for (const call of planned.filter(({ effect_class }) => effect_class === 'unsafe')) {
    expect(tools.effects.get(call.id) ?? 0).toBeLessThanOrEqual(1);
  }
  const replies = log.flatMap((fact) =>
    fact.type === 'message.created' && fact.data.message.type === 'assistant' ? [fact.iteration] : [],
  );
  expect(replies).toEqual([1, 2, 3, 4]);
}
