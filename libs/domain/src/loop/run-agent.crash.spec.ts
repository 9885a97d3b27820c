import { isTerminalFact, messageId, threadId } from '@rondo/contract';
import { LedgeredTools, RunHarness, ScriptedModel, breaksAfter, calls, says, untoldStreams } from '../testing';
import type { Turn } from '../testing/scripted-model';
import { failRun } from './end-run';

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

const stop = { requestedAt: '2026-01-01T00:00:00.000Z', reason: 'enough' };
const twenty = calls(...Array.from({ length: 20 }, () => read));

describe('what was shown is stored or withdrawn (I13), with a stop after a crash anywhere', () => {
  it.each([
    ['a text', [says('Half a sentence.')], false],
    ['a reply of twenty calls', [twenty, says('Done.')], false],
    ['a reply of twenty calls that are sent meanwhile', [twenty, says('Done.')], true],
    ['replies that break off', [breaksAfter('Half')], false],
  ] satisfies [string, Turn[], boolean][])('for %s', async (_, turns, execute_on_stream) => {
    for (let step = 0; ; step++) {
      const harness = new RunHarness({
        model: new ScriptedModel(turns),
        settings: { processor: { execute_on_stream } },
      });
      await harness.crashAt({ step, position: 'after' });
      if (harness.state.ended) return;
      harness.store.requestStop(harness.id, stop);
      await harness.runOn();
      expect({ step, untold: untoldStreams(harness.log, harness.deltas) }).toEqual({ step, untold: [] });
    }
  });

  it.each([
    ['a text', [says('Half a sentence.')]],
    ['a call', [calls(command)]],
    ['replies that break off', [breaksAfter('Half')]],
  ] satisfies [string, Turn[]][])('or a stop while %s is shown', async (_, turns) => {
    for (let shown = 1; shown <= 3; shown++) {
      const harness = new RunHarness({ model: new ScriptedModel(turns) });
      await harness.activate((step, position) => {
        if (position === 'before' || !('delta' in step) || harness.deltas.length !== shown) return;
        harness.store.requestStop(harness.id, stop);
        harness.stop.abort(stop);
      });
      await harness.runOn();
      expect({ shown, untold: untoldStreams(harness.log, harness.deltas) }).toEqual({ shown, untold: [] });
    }
  });

  it('keeps the last of three replies that broke off, and withdraws the others', async () => {
    const harness = new RunHarness({ model: new ScriptedModel([breaksAfter('Half')]) });

    await harness.runOn();

    expect(untoldStreams(harness.log, harness.deltas)).toEqual([]);
    expect(harness.state.conversation.at(-1)).toMatchObject({
      content: [{ type: 'text', text: 'Half' }],
      metadata: { partial: true },
    });
    expect(harness.log.at(-1)).toMatchObject({ type: 'run.failed', data: { error: { code: 'model_no_reply' } } });
  });

  it('when a worker fails the run in the place of one that died', async () => {
    const harness = new RunHarness({ model: new ScriptedModel([says('Half a sentence.')]) });
    await harness.crashAt({ step: 8, position: 'after' });

    const facts = failRun(
      { id: harness.id, threadId: threadId.parse('thr_1'), state: harness.state },
      { messageId: () => messageId.parse('msg_new') },
      { code: 'no_progress', message: 'No progress.' },
    );

    expect(facts.map(({ type }) => type)).toEqual(['iteration.restarted', 'run.failed']);
    expect(facts[0]?.data).toMatchObject({
      withdrawn_stream_ids: expect.arrayContaining([harness.deltas[0]?.streamId]) as string[],
    });
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

  expect(untoldStreams(log, harness.deltas)).toEqual([]);
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
