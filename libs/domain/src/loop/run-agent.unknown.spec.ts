import type { ToolAnswer } from '../ports';
import type { CallResolution } from '../tool-calls/resolve-call';
import { LedgeredTools, RunHarness, ScriptedModel, calls, says } from '../testing';
import type { ToolCall } from '@rondo/contract';

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
  const house = new RunHarness({ model, tools, settings: { processor } });
  return { house, tools };
}

const untilAttempt = (last: number) => (call: ToolCall) => call.attempt < last;
const isCommand = ({ name }: ToolCall): boolean => name === 'execute_command';
const firstCommand = (call: ToolCall): boolean => isCommand(call) && call.index === 0 && call.attempt === 1;

const settled = async (house: RunHarness): Promise<void> => {
  while (await house.activate());
};

const factsOf = (house: RunHarness, type: string) => house.log.filter((fact) => fact.type === type);
/** What the model is told of each call, in the order in which it made them. */
const toldOf = (house: RunHarness) =>
  house.state.conversation
    .flatMap(({ content }) => content.flatMap((block) => (block.type === 'tool_result' ? [block] : [])))
    .sort((a, b) => (a.tool_call_id < b.tool_call_id ? -1 : 1))
    .map(({ result }) => result);
const asked = (house: RunHarness) => {
  const waiting = house.log.findLast(({ type }) => type === 'run.waiting');
  if (waiting?.type !== 'run.waiting' || !waiting.data.question) throw new Error('it does not ask');
  return waiting.data.question.tool_call_id as ToolCall['id']; // the question is about a call
};

/** As a person would: whenever the run asks, and until it is over. */
async function guided(house: RunHarness, ruling: CallResolution): Promise<void> {
  await settled(house);
  while (house.store.status(house.id) === 'waiting_input') {
    house.store.resolve(house.id, asked(house), ruling);
    await settled(house);
  }
}

describe('a call of which nobody knows what became, and that does no harm when it is repeated', () => {
  it('is sent again under the same id, and the model hears only of the answer (I5, R25)', async () => {
    const { house, tools } = build({ forgets: untilAttempt(3), wanted: [read] });

    await settled(house);

    expect(factsOf(house, 'tool.started').map(({ data }) => data)).toMatchObject(
      [1, 2, 3].map((attempt) => ({ attempt })),
    );
    expect(factsOf(house, 'tool.unknown').map(({ data }) => data)).toEqual(
      [1, 2].map(() => expect.not.objectContaining({ message_id: expect.anything() as unknown }) as unknown),
    );
    expect(toldOf(house)).toEqual([{ success: true, output: 'did read_file' }]);
    expect([...tools.effects.values()]).toEqual([3]);
    expect(house.types.at(-1)).toBe('run.completed');
  });

  it('is sent three times in all, then the model is told honestly', async () => {
    const { house, tools } = build({ forgets: () => true, wanted: [read] });

    await settled(house);

    expect([...tools.effects.values()]).toEqual([3]);
    expect(toldOf(house)).toMatchObject([{ success: false, error: expect.stringContaining('may have taken effect') }]);
    expect(factsOf(house, 'tool.unknown').at(-1)).toMatchObject({ data: { message_id: expect.any(String) } });
    expect(house.types.at(-1)).toBe('run.completed');
  });
});

describe('an unsafe call of which nobody knows what became', () => {
  it('is reported to the model unless the run says otherwise (I5)', async () => {
    const { house, tools } = build({ forgets: isCommand, policy: 'report', wanted: [command] });

    await settled(house);

    expect(house.types).not.toContain('run.waiting');
    expect(toldOf(house)).toMatchObject([{ success: false, error: expect.stringContaining('may have taken effect') }]);
    expect([...tools.effects.values()]).toEqual([1]);
  });

  it('parks the run once every other call is answered, and the model is told nothing yet', async () => {
    const { house } = build({ forgets: firstCommand });

    await settled(house);

    expect(house.store.status(house.id)).toBe('waiting_input');
    expect(house.log.at(-1)).toMatchObject({
      type: 'run.waiting',
      data: { reason: 'tool_unknown', question: { text: expect.stringContaining('execute_command') } },
    });
    expect(toldOf(house)).toHaveLength(2);
  });

  it('holds up those behind it where calls go one after the other', async () => {
    const { house, tools } = build({ forgets: firstCommand, strategy: 'sequential' });
    await settled(house);
    expect(tools.effects.size).toBe(1);

    house.store.resolve(house.id, asked(house), { outcome: 'completed' });
    await settled(house);

    expect([...tools.effects.values()]).toEqual([1, 1, 1]);
    expect(house.types.at(-1)).toBe('run.completed');
  });

  it.each([
    ['completed', { success: true, output: expect.stringMatching(/A person confirmed.*built/s) }, 1],
    ['not_applied', { success: false, error: expect.stringMatching(/did not take effect.*built/s) }, 1],
    ['retry', { success: true, output: 'did execute_command' }, 2],
  ] as const)('goes on as a person says: %s', async (outcome, told, effects) => {
    const { house, tools } = build({ forgets: firstCommand, wanted: [command] });

    await guided(house, { outcome, ...(outcome !== 'retry' && { output: 'built' }) });

    expect(toldOf(house)).toMatchObject([told]);
    expect([...tools.effects.values()]).toEqual([effects]);
    expect(house.types.at(-1)).toBe('run.completed');
  });

  it('states the word, then what the model is told, then that the run goes on', async () => {
    const { house } = build({ forgets: firstCommand, wanted: [command] });
    await settled(house);
    const before = house.log.length;

    house.store.resolve(house.id, asked(house), { outcome: 'completed' });

    expect(house.types.slice(before)).toEqual(['tool.resolved', 'tool.completed', 'message.created', 'run.resumed']);
  });

  it('asks about one after the other, and goes on when none is left', async () => {
    const { house } = build({ forgets: isCommand, wanted: [command, command] });
    await settled(house);
    const [first, second] = [...house.state.calls.keys()];
    if (!first || !second) throw new Error('two calls were made');
    expect(asked(house)).toBe(first);

    house.store.resolve(house.id, first, { outcome: 'not_applied' });
    expect([house.store.status(house.id), asked(house)]).toEqual(['waiting_input', second]);
    house.store.resolve(house.id, second, { outcome: 'completed' });

    expect(house.store.status(house.id)).toBe('queued');
    await settled(house);
    expect(house.types.at(-1)).toBe('run.completed');
  });

  it('takes one word, and only where it awaits one', async () => {
    const { house } = build({ forgets: firstCommand });
    await settled(house);
    const [inDoubt, done] = [...house.state.calls.keys()];
    if (!inDoubt || !done) throw new Error('three calls were made');

    expect(house.store.resolve(house.id, done, { outcome: 'completed' })).toBe(false);
    expect(house.store.resolve(house.id, inDoubt, { outcome: 'completed' })).toBe(true);
    expect(house.store.resolve(house.id, inDoubt, { outcome: 'not_applied' })).toBe(false);
  });

  it('is in doubt again when the repetition is lost too, as often as a person wants it', async () => {
    const { house, tools } = build({ forgets: untilAttempt(5), wanted: [command] });

    await guided(house, { outcome: 'retry' });

    expect([...tools.effects.values()]).toEqual([5]);
    expect(factsOf(house, 'tool.resolved')).toHaveLength(4);
    expect(house.types.at(-1)).toBe('run.completed');
  });

  it.each(['parallel', 'sequential'] as const)(
    'is answered honestly before a stop ends the run, %s (I6, R29)',
    async (strategy) => {
      const { house } = build({ forgets: firstCommand, strategy });
      await settled(house);

      house.store.requestStop(house.id, { requestedAt: '2026-01-01T00:00:00.000Z', reason: null });
      await settled(house);

      expect(toldOf(house)).toHaveLength(3);
      expect(toldOf(house).map(({ error }) => error)).toContainEqual(expect.stringContaining('may have taken effect'));
      expect(house.types.at(-1)).toBe('run.stopped');
    },
  );

  it('is not parked by a stop that comes while it runs: it is reported at once (I6, I7)', async () => {
    const stop = { requestedAt: '2026-01-01T00:00:00.000Z', reason: null };
    const lost: ToolAnswer = { how: 'unknown', reason: 'The executor died while the tool ran.' };
    const house: RunHarness = new RunHarness({
      model: new ScriptedModel([calls(command, read)]),
      settings: { processor: { unknown_outcome: 'park' } },
      tools: {
        store: null,
        endRun: () => Promise.resolve([]),
        reattach: () => Promise.resolve(lost),
        execute: () => {
          house.store.requestStop(house.id, stop);
          house.stop.abort(stop);
          return Promise.resolve(lost);
        },
      },
    });

    await house.activate();

    expect(toldOf(house)).toHaveLength(2);
    expect(house.types).not.toContain('run.waiting');
    expect(house.types.at(-1)).toBe('run.stopped');
  });
});

describe.each(['parallel', 'sequential'] as const)('a run in doubt whose worker is killed, tools %s', (strategy) => {
  const parts = { forgets: ({ attempt, index }: ToolCall) => attempt === 1 && index < 2, strategy };

  it.each([
    ['completed', 'before'],
    ['completed', 'after'],
    ['retry', 'before'],
    ['retry', 'after'],
  ] as const)(
    'comes to the same end with the word %s, killed %s every write (I2, I4, I5)',
    async (outcome, position) => {
      const oracle = build(parts);
      await guided(oracle.house, { outcome });

      for (let step = 0; step < oracle.house.log.length; step++) {
        const { house, tools } = build(parts);
        await house.crashAt({ step, position });
        await guided(house, { outcome });

        expect({ step, told: toldOf(house), end: house.types.at(-1) }).toEqual({
          step,
          told: toldOf(oracle.house),
          end: 'run.completed',
        });
        expect(house.log.map(({ seq }) => seq)).toEqual(house.log.map((_, index) => index + 1));
        expectOneEffectPerWord(house, tools);
      }
    },
  );
});

/** An unsafe call takes effect once, and once more for each time that a person wants it. */
function expectOneEffectPerWord(house: RunHarness, tools: LedgeredTools): void {
  for (const fact of house.log) {
    if (fact.type !== 'tool.planned' || fact.data.tool_call.effect_class !== 'unsafe') continue;
    const { id } = fact.data.tool_call;
    const words = house.log.filter(
      ({ type, data }) => type === 'tool.resolved' && data.tool_call_id === id && data.outcome === 'retry',
    );
    expect(tools.effects.get(id) ?? 0).toBeLessThanOrEqual(1 + words.length);
  }
}
