import { type Usage, toChildRunId, isTerminalFact } from '@rondo/contract';
import { RunHarness, ScriptedModel, calls, says, using } from '../testing';
import { InMemoryChildRuns } from '../testing/in-memory-child-runs';

const child = (input: string) => ({ name: 'run_agent', arguments: { agent: 'helper', input } });
const read = { name: 'read_file', arguments: { file_path: 'a.txt' } };

function build(strategy: 'parallel' | 'sequential' = 'parallel') {
  const children = new InMemoryChildRuns();
  const harness = new RunHarness({
    model: new ScriptedModel([calls(child('one'), read, child('two')), says('All done.')]),
    settings: { tools: { run_agent: true }, processor: { tool_execution_strategy: strategy } },
    extra: { children },
  });
  return { harness, children };
}

type Built = ReturnType<typeof build>;

/** Ends the children one after the other, as far as the run waits for them. */
async function finish({ harness, children }: Built): Promise<void> {
  for (;;) {
    await harness.runOn();
    const { next } = children;
    if (next !== undefined) children.end(next);
    const isTold = harness.store.collect(harness.id, children.ends);
    if (next === undefined && !isTold) return;
  }
}

const answersIn = ({ harness }: Built) =>
  harness.log.flatMap((fact) =>
    fact.type === 'tool.completed' || fact.type === 'tool.failed' || fact.type === 'tool.unknown' ? [fact] : [],
  );

describe('a run that starts others', () => {
  it('waits for them without a worker, and names them', async () => {
    const built = build();
    await built.harness.runOn();

    const started = [...built.children.started.keys()].map(toChildRunId);
    expect(started).toHaveLength(2);
    expect(built.harness.store.status(built.harness.id)).toBe('waiting_child');
    expect(built.harness.log.at(-1)).toMatchObject({
      type: 'run.waiting',
      data: { reason: 'child_runs', child_runs: started.map((run_id) => ({ run_id, agent_name: 'helper' })) },
    });
  });

  it.each(['parallel', 'sequential'] as const)('gets each answer once, calls %s', async (strategy) => {
    const built = build(strategy);
    await finish(built);

    expect(built.harness.log.at(-1)?.type).toBe('run.completed');
    expect(answersIn(built).map(({ type }) => type)).toEqual(['tool.completed', 'tool.completed', 'tool.completed']);
  });

  it('gets no second answer for a child that is reported again', async () => {
    const built = build();
    await built.harness.runOn();
    for (const first of [...built.children.started.keys()].slice(0, 1)) built.children.end(first);

    expect(built.harness.store.collect(built.harness.id, built.children.ends)).toBe(true);
    expect(built.harness.store.collect(built.harness.id, built.children.ends)).toBe(false);
    expect(built.harness.log.at(-1)).toMatchObject({ type: 'run.waiting', data: { child_runs: [{}] } });
  });

  it.each([
    [{ status: 'failed', problem: 'model_error: down' }, 'failed: model_error: down'],
    [{ status: 'stopped', problem: 'enough' }, 'was stopped: enough'],
    [
      { status: 'completed', problem: 'The run did not complete within what it or its account may spend.' },
      'ended without success',
    ],
    [{ status: 'deleted' }, 'was deleted'],
  ] as const)('is told honestly that a child %j', async (end, words) => {
    const built = build();
    await built.harness.runOn();
    for (const id of built.children.started.keys()) built.children.end(id, end);
    built.harness.store.collect(built.harness.id, built.children.ends);

    const failed = answersIn(built).filter(({ type }) => type === 'tool.failed');
    expect(failed).toHaveLength(2);
    expect(JSON.stringify(failed)).toContain(words);
  });

  it('is told why a run was refused, and goes on', async () => {
    const built = build();
    built.children.refusal = 'Runs may be nested 3 deep.';
    await built.harness.runOn();

    expect(built.harness.log.at(-1)?.type).toBe('run.completed');
    expect(JSON.stringify(answersIn(built))).toContain('nested 3 deep');
  });

  it('stops them when it is stopped while it waits, and its receipt names them (I7)', async () => {
    const built = build();
    const { harness, children } = built;
    await harness.runOn();
    harness.store.requestStop(harness.id, { requestedAt: '2026-01-01T00:00:00.000Z', reason: null });
    await harness.runOn();

    expect(children.next).toBeUndefined();
    const stopped = [...children.started.keys()].map((id) => ({
      run_id: toChildRunId(id),
      ended_at: expect.any(String),
    }));
    expect(harness.log.at(-1)).toMatchObject({
      type: 'run.stopped',
      data: { receipt: { child_runs_stopped: stopped } },
    });
    expect(answersIn(built)).toHaveLength(3);
  });

  const rootRunId = toChildRunId('call_root' as never);
  const createTreeBudget = (tokens: number, spentByOthers: Usage) => () =>
    Promise.resolve({ rootRunId, budget: { tokens, on_exceeded: 'wait' as const }, spentByOthers });

  it('parks for the budget of its tree, and says whose it is', async () => {
    const spent = { input_tokens: 900, cached_tokens: 0, output_tokens: 100, cost_usd: 0 };
    const harness = new RunHarness({
      model: new ScriptedModel([says('Done.')]),
      extra: {
        treeBudget: createTreeBudget(1_000, spent),
      },
    });
    await harness.runOn();

    const budget = { tokens: 1_000, spent_tokens: 1_000, root_run_id: rootRunId };
    expect(harness.log.at(-1)).toMatchObject({ type: 'run.waiting', data: { reason: 'budget', budget } });
  });

  it('counts what it has spent itself, of which the store may not know yet', async () => {
    const nothing = { input_tokens: 0, cached_tokens: 0, output_tokens: 0, cost_usd: 0 };
    const harness = new RunHarness({
      model: new ScriptedModel([using(100_000, calls(read)), says('Done.')]),
      extra: { treeBudget: createTreeBudget(60_000, nothing) },
    });
    await harness.runOn();

    expect(harness.log.at(-1)).toMatchObject({ type: 'run.waiting', data: { reason: 'budget' } });
    expect(harness.log.filter(({ type }) => type === 'usage.recorded')).toHaveLength(1);
  });
});

describe.each(['parallel', 'sequential'] as const)('a parent whose worker is killed, calls %s', (strategy) => {
  it.each(['before', 'after'] as const)(
    'starts each child once and gets each answer once, %s every write (I2, I5, I6)',
    async (position) => {
      for (let step = 0; ; step++) {
        const built = build(strategy);
        const crashed = await crashAt(built, { step, position });
        await finish(built);
        expectWhole(built, `crash ${position} step ${step}`);
        if (!crashed) return;
      }
    },
  );
});

/** Lets the worker die at the nth step of all its activations. False if there are fewer. */
async function crashAt(
  built: Built,
  { step, position }: { step: number; position: 'before' | 'after' },
): Promise<boolean> {
  let left = step;
  for (;;) {
    let seen = 0;
    const counted = left;
    await built.harness.crashAt({ step: counted, position, onStep: () => (seen += 1) });
    if (seen > counted) return true;
    left -= seen;
    const { next } = built.children;
    if (next !== undefined) built.children.end(next);
    const isTold = built.harness.store.collect(built.harness.id, built.children.ends);
    if (!isTold) return false;
  }
}

function expectWhole({ harness, children }: Built, about: string): void {
  const { log } = harness;
  const answered = answersIn({ harness, children }).map(({ data }) => data.tool_call_id);
  const planned = log.flatMap((fact) => (fact.type === 'tool.planned' ? [fact.data.tool_call.id] : []));
  expect({
    about,
    seqs: log.map(({ seq }) => seq),
    ends: log.filter(isTerminalFact).map(({ type }) => type),
    answered: answered.toSorted(),
    children: children.started.size,
  }).toEqual({
    about,
    seqs: log.map((_, index) => index + 1),
    ends: ['run.completed'],
    answered: planned.toSorted(),
    children: 2,
  });
}
