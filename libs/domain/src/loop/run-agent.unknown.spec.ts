import type { ToolCall } from '@rondo/contract';
import type { ToolAnswer } from '../ports';
import { LedgeredTools, RunHarness, ScriptedModel, calls, says } from '../testing';
import type { CallResolution } from '../tool-calls/resolve-call';

const read = { name: 'read_file', arguments: { file_path: 'a.txt' } };
const command = { name: 'execute_command', arguments: { command: 'make', blocking: true } };

interface Parts {
  readonly forgets: (call: ToolCall) => boolean;
  readonly policy?: 'report' | 'park';
  readonly strategy?: 'parallel' | 'sequential';
  readonly wanted?: readonly (typeof read | typeof command)[];
}

function build({ forgets, policy = 'park', strategy = 'parallel', wanted = [command, read, command] }: Parts) {
  const model = new ScriptedModel([calls(...wanted), says('All done.')]);
  const tools = new LedgeredTools(undefined, forgets);
  const processor = { unknown_outcome: policy, tool_execution_strategy: strategy } as const;
  const harness = new RunHarness({ model, tools, settings: { processor } });
  return { harness, tools };
}

const untilAttempt = (last: number) => (call: ToolCall) => call.attempt < last;
const isCommand = ({ name }: ToolCall): boolean => name === 'execute_command';
const firstCommand = (call: ToolCall): boolean => isCommand(call) && call.index === 0 && call.attempt === 1;

const runUntilIdle = async (harness: RunHarness): Promise<void> => {
  while (await harness.activate());
};

const listFacts = (harness: RunHarness, type: string) => harness.log.filter((fact) => fact.type === type);
/** The results that the model receives, in the order of its calls. */
const listResults = (harness: RunHarness) =>
  harness.state.conversation
    .flatMap(({ content }) => content.flatMap((block) => (block.type === 'tool_result' ? [block] : [])))
    .sort((a, b) => (a.tool_call_id < b.tool_call_id ? -1 : 1))
    .map(({ result }) => result);
const askedCall = (harness: RunHarness) => {
  const waiting = harness.log.findLast(({ type }) => type === 'run.waiting');
  if (waiting?.type !== 'run.waiting' || !waiting.data.question) throw new Error('the run has no question');
  return waiting.data.question.tool_call_id as ToolCall['id']; // the question is about a call
};

/** Resolves each unknown call in the same way until the run is over. */
async function resolveAll(harness: RunHarness, resolution: CallResolution): Promise<void> {
  await runUntilIdle(harness);
  while (harness.store.status(harness.id) === 'waiting_input') {
    harness.store.resolve(harness.id, askedCall(harness), resolution);
    await runUntilIdle(harness);
  }
}

describe('a call with an unknown outcome that is safe to repeat', () => {
  it('is sent again under the same id, and the model receives only the answer (I5)', async () => {
    const { harness, tools } = build({ forgets: untilAttempt(3), wanted: [read] });

    await runUntilIdle(harness);

    expect(listFacts(harness, 'tool.started').map(({ data }) => data)).toMatchObject(
      [1, 2, 3].map((attempt) => ({ attempt })),
    );
    expect(listFacts(harness, 'tool.unknown').map(({ data }) => data)).toEqual(
      [1, 2].map(() => expect.not.objectContaining({ message_id: expect.anything() as unknown }) as unknown),
    );
    expect(listResults(harness)).toEqual([{ success: true, output: 'did read_file' }]);
    expect([...tools.effects.values()]).toEqual([3]);
    expect(harness.types.at(-1)).toBe('run.completed');
  });

  it('is sent at most three times, then the model is told that its outcome is unknown', async () => {
    const { harness, tools } = build({ forgets: () => true, wanted: [read] });

    await runUntilIdle(harness);

    expect([...tools.effects.values()]).toEqual([3]);
    expect(listResults(harness)).toMatchObject([
      { success: false, error: expect.stringContaining('may have taken effect') },
    ]);
    expect(listFacts(harness, 'tool.unknown').at(-1)).toMatchObject({ data: { message_id: expect.any(String) } });
    expect(harness.types.at(-1)).toBe('run.completed');
  });
});

describe('an unsafe call with an unknown outcome', () => {
  it('is reported to the model when the run asks for a report (I5)', async () => {
    const { harness, tools } = build({ forgets: isCommand, policy: 'report', wanted: [command] });

    await runUntilIdle(harness);

    expect(harness.types).not.toContain('run.waiting');
    expect(listResults(harness)).toMatchObject([
      { success: false, error: expect.stringContaining('may have taken effect') },
    ]);
    expect([...tools.effects.values()]).toEqual([1]);
  });

  it('parks the run once every other call is answered, and the model is not told yet', async () => {
    const { harness } = build({ forgets: firstCommand });

    await runUntilIdle(harness);

    expect(harness.store.status(harness.id)).toBe('waiting_input');
    expect(harness.log.at(-1)).toMatchObject({
      type: 'run.waiting',
      data: { reason: 'tool_unknown', question: { text: expect.stringContaining('execute_command') } },
    });
    expect(listResults(harness)).toHaveLength(2);
  });

  it('holds up the calls behind it when calls are sequential', async () => {
    const { harness, tools } = build({ forgets: firstCommand, strategy: 'sequential' });
    await runUntilIdle(harness);
    expect(tools.effects.size).toBe(1);

    harness.store.resolve(harness.id, askedCall(harness), { outcome: 'completed' });
    await runUntilIdle(harness);

    expect([...tools.effects.values()]).toEqual([1, 1, 1]);
    expect(harness.types.at(-1)).toBe('run.completed');
  });

  it.each([
    ['completed', { success: true, output: expect.stringMatching(/A person confirmed.*built/s) }, 1],
    ['not_applied', { success: false, error: expect.stringMatching(/did not take effect.*built/s) }, 1],
    ['retry', { success: true, output: 'did execute_command' }, 2],
  ] as const)('continues as the person decides: %s', async (outcome, result, effects) => {
    const { harness, tools } = build({ forgets: firstCommand, wanted: [command] });

    await resolveAll(harness, { outcome, ...(outcome !== 'retry' && { output: 'built' }) });

    expect(listResults(harness)).toMatchObject([result]);
    expect([...tools.effects.values()]).toEqual([effects]);
    expect(harness.types.at(-1)).toBe('run.completed');
  });

  it('records the decision, then the result for the model, then that the run resumes', async () => {
    const { harness } = build({ forgets: firstCommand, wanted: [command] });
    await runUntilIdle(harness);
    const before = harness.log.length;

    harness.store.resolve(harness.id, askedCall(harness), { outcome: 'completed' });

    expect(harness.types.slice(before)).toEqual(['tool.resolved', 'tool.completed', 'message.created', 'run.resumed']);
  });

  it('asks about one call after the other and resumes after the last', async () => {
    const { harness } = build({ forgets: isCommand, wanted: [command, command] });
    await runUntilIdle(harness);
    const [first, second] = [...harness.state.calls.keys()];
    if (!first || !second) throw new Error('two calls were made');
    expect(askedCall(harness)).toBe(first);

    harness.store.resolve(harness.id, first, { outcome: 'not_applied' });
    expect([harness.store.status(harness.id), askedCall(harness)]).toEqual(['waiting_input', second]);
    harness.store.resolve(harness.id, second, { outcome: 'completed' });

    expect(harness.store.status(harness.id)).toBe('queued');
    await runUntilIdle(harness);
    expect(harness.types.at(-1)).toBe('run.completed');
  });

  it('accepts one decision, and only for a call that awaits one', async () => {
    const { harness } = build({ forgets: firstCommand });
    await runUntilIdle(harness);
    const [inDoubt, done] = [...harness.state.calls.keys()];
    if (!inDoubt || !done) throw new Error('three calls were made');

    expect(harness.store.resolve(harness.id, done, { outcome: 'completed' })).toBe(false);
    expect(harness.store.resolve(harness.id, inDoubt, { outcome: 'completed' })).toBe(true);
    expect(harness.store.resolve(harness.id, inDoubt, { outcome: 'not_applied' })).toBe(false);
  });

  it('asks again when the repeated call is lost too, as often as the person wants', async () => {
    const { harness, tools } = build({ forgets: untilAttempt(5), wanted: [command] });

    await resolveAll(harness, { outcome: 'retry' });

    expect([...tools.effects.values()]).toEqual([5]);
    expect(listFacts(harness, 'tool.resolved')).toHaveLength(4);
    expect(harness.types.at(-1)).toBe('run.completed');
  });

  it.each(['parallel', 'sequential'] as const)(
    'is answered as unknown before a stop ends the run, %s (I6)',
    async (strategy) => {
      const { harness } = build({ forgets: firstCommand, strategy });
      await runUntilIdle(harness);

      harness.store.requestStop(harness.id, { requestedAt: '2026-01-01T00:00:00.000Z', reason: null });
      await runUntilIdle(harness);

      expect(listResults(harness)).toHaveLength(3);
      expect(listResults(harness).map(({ error }) => error)).toContainEqual(
        expect.stringContaining('may have taken effect'),
      );
      expect(harness.types.at(-1)).toBe('run.stopped');
    },
  );

  it('is reported at once when a stop comes while it runs (I6, I7)', async () => {
    const stop = { requestedAt: '2026-01-01T00:00:00.000Z', reason: null };
    const lost: ToolAnswer = { how: 'unknown', reason: 'The executor died while the tool ran.' };
    const harness: RunHarness = new RunHarness({
      model: new ScriptedModel([calls(command, read)]),
      settings: { processor: { unknown_outcome: 'park' } },
      tools: {
        store: null,
        endRun: () => Promise.resolve([]),
        reattach: () => Promise.resolve(lost),
        execute: () => {
          harness.store.requestStop(harness.id, stop);
          harness.stop.abort(stop);
          return Promise.resolve(lost);
        },
      },
    });

    await harness.activate();

    expect(listResults(harness)).toHaveLength(2);
    expect(harness.types).not.toContain('run.waiting');
    expect(harness.types.at(-1)).toBe('run.stopped');
  });
});

describe.each(['parallel', 'sequential'] as const)(
  'a run with unknown outcomes whose worker is killed, tools %s',
  (strategy) => {
    const parts = { forgets: ({ attempt, index }: ToolCall) => attempt === 1 && index < 2, strategy };

    it.each([
      ['completed', 'before'],
      ['completed', 'after'],
      ['retry', 'before'],
      ['retry', 'after'],
    ] as const)('ends the same with the decision %s, killed %s every write (I2, I4, I5)', async (outcome, position) => {
      const oracle = build(parts);
      await resolveAll(oracle.harness, { outcome });

      for (let step = 0; step < oracle.harness.log.length; step++) {
        const { harness, tools } = build(parts);
        await harness.crashAt({ step, position });
        await resolveAll(harness, { outcome });

        expect({ step, results: listResults(harness), end: harness.types.at(-1) }).toEqual({
          step,
          results: listResults(oracle.harness),
          end: 'run.completed',
        });
        expect(harness.log.map(({ seq }) => seq)).toEqual(harness.log.map((_, index) => index + 1));
        expectOneEffectPerDecision(harness, tools);
      }
    });
  },
);

/** An unsafe call takes effect once, and once more for each retry that a person decided. */
function expectOneEffectPerDecision(harness: RunHarness, tools: LedgeredTools): void {
  for (const fact of harness.log) {
    if (fact.type !== 'tool.planned' || fact.data.tool_call.effect_class !== 'unsafe') continue;
    const { id } = fact.data.tool_call;
    const retries = harness.log.filter(
      ({ type, data }) => type === 'tool.resolved' && data.tool_call_id === id && data.outcome === 'retry',
    );
    expect(tools.effects.get(id) ?? 0).toBeLessThanOrEqual(1 + retries.length);
  }
}
