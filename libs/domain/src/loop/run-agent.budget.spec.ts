import type { SettingsRequest } from '@rondo/contract';
import { LedgeredTools, RunHarness, ScriptedModel, type Turn, calls, says, using } from '../testing';

const command = { name: 'execute_command', arguments: { command: 'make', blocking: true } };

/** The turn, with so many tokens in its usage. */
function build(turns: readonly Turn[], settings: SettingsRequest = {}) {
  const tools = new LedgeredTools();
  const model = new ScriptedModel(turns);
  const budget = { tokens: 60_000, on_exceeded: 'wait' as const };
  const harness = new RunHarness({ model, tools, settings: { budget, tools: [command.name], ...settings } });
  return { harness, tools, model };
}

const twoCalls = [using(50_000, calls(command)), using(50_000, calls(command)), says('Done.')];
const status = ({ store, id }: RunHarness) => store.status(id);
const raise = ({ store, id }: RunHarness, tokens: number) => store.raiseBudget(id, { tokens });
const isParked = (harness: RunHarness) => status(harness) === 'waiting_budget';
describe('a run that waits for its budget', () => {
  it('parks before the model call that the budget does not cover, and says what was spent', async () => {
    const { harness, model } = build(twoCalls);

    await harness.runOn();

    expect(isParked(harness)).toBe(true);
    expect(model.requests).toHaveLength(2);
    expect(harness.types.slice(-2)).toEqual(['iteration.completed', 'run.waiting']);
    expect(harness.log.at(-1)?.data).toEqual({
      reason: 'budget',
      budget: { usd: null, tokens: 60_000, spent_usd: expect.any(Number), spent_tokens: 100_010 },
    });
  });

  it('goes on where it was when the budget is raised, and parks again if that is not enough', async () => {
    const { harness, model, tools } = build(twoCalls);
    await harness.runOn();

    raise(harness, 100_011);
    expect(status(harness)).toBe('queued');
    await harness.runOn();
    expect([isParked(harness), model.requests.length]).toEqual([true, 2]);

    raise(harness, 500_000);
    await harness.runOn();
    expect(harness.log.at(-1)).toMatchObject({ type: 'run.completed', data: { finish_reason: 'stop' } });
    expect([...tools.effects.values()]).toEqual([1, 1]);
    expect(harness.types.filter((type) => type === 'budget.raised')).toHaveLength(2);
  });

  it('waits for the answer to a question first', async () => {
    const asks = using(70_000, calls({ name: 'ask', arguments: { text: 'Which?' } }));
    const { harness } = build([asks, says('Done.')], { tools: ['ask'] });
    await harness.runOn();
    expect(status(harness)).toBe('waiting_input');

    harness.store.answer(harness.id, 'Blue.');
    await harness.runOn();

    expect(isParked(harness)).toBe(true);
  });

  it('parks before its first model call if even that does not fit', async () => {
    const { harness, model } = build([says('Done.')], { budget: { tokens: 1, on_exceeded: 'wait' } });
    await harness.runOn();
    expect([isParked(harness), model.requests.length]).toEqual([true, 0]);

    raise(harness, 100_000);
    await harness.runOn();
    expect(status(harness)).toBe('completed');
  });

  it('can be stopped, and its budget is not raised any more', async () => {
    const { harness } = build(twoCalls);
    await harness.runOn();

    harness.store.requestStop(harness.id, { requestedAt: '2026-01-01T00:00:00.000Z', reason: null });
    await harness.runOn();

    expect(status(harness)).toBe('stopped');
    expect(() => raise(harness, 100_000)).toThrow('can no longer be raised');
  });

  it('is not raised by the same amount twice, nor lowered, nor given a budget that it has not', async () => {
    const { harness } = build(twoCalls);
    await harness.runOn();

    expect(raise(harness, 100_011).map(({ type }) => type)).toEqual(['budget.raised', 'run.resumed']);
    expect(raise(harness, 100_011)).toEqual([]);
    expect(() => raise(harness, 5)).toThrow('only raised');
    expect(() => harness.store.raiseBudget(harness.id, { usd: 5 })).toThrow('no budget in usd');
  });
});

it('a run that does not wait ends when its budget is spent', async () => {
  const { harness } = build(twoCalls, { budget: { tokens: 60_000 } });
  await harness.runOn();
  expect(harness.log.at(-1)).toMatchObject({ type: 'run.completed', data: { finish_reason: 'budget_exceeded' } });
});

describe.each([
  ['calls of tools', {}, 1],
  ['calls sent while the reply streams', { processor: { execute_on_stream: true } }, 0], // a lost usage is estimated, and may fit the budget
] as const)('with %s, a worker killed', (_, settings, leastRaises) => {
  it.each(['before', 'after'] as const)(
    '%s any write neither loses nor repeats what was paid for',
    async (position) => {
      const oracle = build(twoCalls, settings);
      await raiseUntilDone(oracle.harness);
      for (let step = 0; step < oracle.harness.log.length * 2; step++) {
        const { harness, tools } = build(twoCalls, settings);
        await harness.crashAt({ step, position });
        await raiseUntilDone(harness);

        expect({ step, end: harness.types.at(-1) }).toEqual({ step, end: 'run.completed' });
        expect(countCalls(harness)).toBeGreaterThanOrEqual(countCalls(oracle.harness)); // a lost reply is asked for again, or its usage is estimated
        expect(harness.log.map(({ seq }) => seq)).toEqual(harness.log.map((__, index) => index + 1));
        expect(new Set(harness.types.filter((type) => type === 'budget.raised')).size).toBeGreaterThanOrEqual(
          leastRaises,
        );
        expect([...tools.effects.values()]).toEqual([1, 1]);
      }
    },
  );

  it.each(['before', 'after'] as const)('%s any write after the budget was raised goes on once', async (position) => {
    for (let step = 0; step < 12; step++) {
      const { harness, tools } = build(twoCalls, settings);
      await harness.runOn();
      raise(harness, 500_000);
      await harness.crashAt({ step, position });
      await harness.runOn();

      expect(harness.types.at(-1)).toBe('run.completed');
      expect([...tools.effects.values()]).toEqual([1, 1]);
      expect(harness.types.filter((type) => type === 'run.waiting')).toHaveLength(1);
    }
  });
});

const countCalls = (harness: RunHarness): number => harness.types.filter((type) => type === 'usage.recorded').length;

/** As a user who raises the budget each time that the run waits for it. */
async function raiseUntilDone(harness: RunHarness): Promise<void> {
  for (let tokens = 200_000; ; tokens += 200_000) {
    await harness.runOn();
    if (!isParked(harness)) return;
    raise(harness, tokens);
  }
}
