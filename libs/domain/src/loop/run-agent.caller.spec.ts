import { type CallId, type RecordedFact, type SettingsRequest, toFailedResult, isTerminalFact } from '@rondo/contract';
import { LedgeredTools, RunHarness, ScriptedModel, calls, says } from '../testing';
import { InMemoryChildRuns } from '../testing/in-memory-child-runs';
import type { CallerOutcome } from '../tool-calls/caller-calls';

const weather = { name: 'get_weather', arguments: { city: 'Bergen' } };
const order = { name: 'order_taxi', arguments: { to: 'Bergen' } };
const read = { name: 'read_file', arguments: { file_path: 'a.txt' } };
const callerTools: SettingsRequest['caller_tools'] = [
  { name: 'get_weather', description: 'The weather of a city.', timeout_s: 60, effect_class: 'pure' },
  { name: 'order_taxi', description: 'Orders a taxi.', timeout_s: 90 },
];

function build(wanted: readonly { name: string; arguments: unknown }[], settings: SettingsRequest = {}) {
  const tools = new LedgeredTools();
  const children = new InMemoryChildRuns();
  const model = new ScriptedModel([calls(...wanted), says('All done.')]);
  const harness = new RunHarness({
    model,
    tools,
    settings: { caller_tools: callerTools, ...settings },
    extra: { children },
  });
  return { harness, tools, model, children };
}

type Harness = RunHarness;

const status = ({ store, id }: Harness) => store.status(id);
const awaited = ({ log }: Harness) => {
  const last = log.findLast(({ type }) => type === 'run.waiting');
  return last?.type === 'run.waiting' ? (last.data.tool_calls ?? []) : [];
};
const namesOfAwaited = (harness: Harness) => awaited(harness).map(({ name }) => name);
const firstAwaited = (harness: Harness): CallId => {
  const [first] = awaited(harness);
  if (!first) throw new Error('the run waits for no call');
  return first.tool_call_id;
};
const answered = (output: string): CallerOutcome => ({
  how: 'answered',
  result: { success: true, output },
  durationMs: 5,
  answeredBy: 'key_1',
});
const expired: CallerOutcome = { how: 'expired', durationMs: 60_000 };
const give = (harness: Harness, id: CallId, outcome: CallerOutcome = answered('18 °C')) =>
  harness.store.answerAsCaller(harness.id, new Map([[id, outcome]]));
const listResults = (harness: Harness) =>
  harness.state.conversation
    .flatMap(({ content }) => content.flatMap((block) => (block.type === 'tool_result' ? [block] : [])))
    .sort((a, b) => (a.tool_call_id < b.tool_call_id ? -1 : 1))
    .map(({ result }) => result);

describe('a call of a tool that the caller runs', () => {
  it('is sent and parks the run in one step, and no executor sees it', async () => {
    const { harness, tools, model } = build([weather]);

    await harness.runOn();

    expect(status(harness)).toBe('waiting_tool');
    expect(harness.types.slice(-2)).toEqual(['tool.started', 'run.waiting']);
    expect(tools.effects.size).toBe(0);
    expect(model.requests[0]?.tools).toContainEqual(expect.objectContaining({ name: 'get_weather' }));
    const [call] = awaited(harness);
    expect(Date.parse(call?.expires_at ?? '') - Date.parse(call?.requested_at ?? '')).toBe(60_000);
  });

  it('is answered by its caller, and the run goes on with that', async () => {
    const { harness, model } = build([weather]);
    await harness.runOn();

    expect(give(harness, firstAwaited(harness))).toBe(true);
    expect(status(harness)).toBe('queued');
    await harness.runOn();

    expect(harness.log.find(({ type }) => type === 'tool.completed')?.data).toMatchObject({ answered_by: 'key_1' });
    expect(JSON.stringify(model.requests[1]?.messages)).toContain('18 °C');
    expect(harness.types.at(-1)).toBe('run.completed');
  });

  it('runs beside other calls, and is awaited when those are answered', async () => {
    const { harness, tools } = build([weather, read, order]);

    await harness.runOn();

    expect(tools.effects.size).toBe(1);
    expect(namesOfAwaited(harness)).toEqual(['get_weather', 'order_taxi']);
  });

  it('of several is answered in any order, and the run waits for the rest', async () => {
    const { harness } = build([weather, order]);
    await harness.runOn();
    const [first, second] = awaited(harness);
    if (!first || !second) throw new Error('the run waits for two calls');

    give(harness, second.tool_call_id, answered('ordered'));
    expect(status(harness)).toBe('waiting_tool');
    expect(awaited(harness)).toEqual([first]);
    expect(give(harness, second.tool_call_id, answered('again'))).toBe(false);
    give(harness, first.tool_call_id);
    await harness.runOn();

    expect(listResults(harness).map(({ output }) => output)).toEqual(['18 °C', 'ordered']);
  });

  it('follows the calls before it where calls are sequential, together with those of the caller behind it', async () => {
    const { harness, tools } = build([read, weather, order, read], {
      processor: { tool_execution_strategy: 'sequential' },
    });
    await harness.runOn();
    expect([tools.effects.size, namesOfAwaited(harness)]).toEqual([1, ['get_weather', 'order_taxi']]);

    for (const { tool_call_id: id } of awaited(harness)) give(harness, id);
    await harness.runOn();

    expect([tools.effects.size, harness.types.at(-1)]).toEqual([2, 'run.completed']);
  });

  it('behind the end of a sequential turn is not sent', async () => {
    const { harness } = build([{ name: 'complete', arguments: { text: 'Done.' } }, weather], {
      processor: { tool_execution_strategy: 'sequential' },
    });

    await harness.runOn();

    expect(harness.types).not.toContain('run.waiting');
    expect(listResults(harness).at(-1)).toMatchObject({ error: expect.stringContaining('not executed') });
  });

  it('may need an approval before it is sent', async () => {
    const { harness } = build([weather, order], { tools: { order_taxi: { require_approval: true } } });
    await harness.runOn();
    expect(namesOfAwaited(harness)).toEqual(['get_weather']);
    const [, needsApproval] = [...harness.state.calls.keys()];

    give(harness, firstAwaited(harness));
    await harness.runOn();
    expect(status(harness)).toBe('waiting_input');
    if (needsApproval)
      harness.store.decide(harness.id, needsApproval, { outcome: 'approve', decidedBy: 'key_1', argumentsHash: null });
    await harness.runOn();

    expect(namesOfAwaited(harness)).toEqual(['order_taxi']);
    give(harness, firstAwaited(harness));
    await harness.runOn();
    expect(harness.types.at(-1)).toBe('run.completed');
  });

  it('waits beside child runs, which go on meanwhile', async () => {
    const { harness, children } = build(
      [weather, { name: 'run_agent', arguments: { agent: 'helper', input: 'Go.' } }],
      {
        tools: { run_agent: true },
      },
    );
    await harness.runOn();
    expect([status(harness), children.started.size]).toEqual(['waiting_tool', 1]);

    give(harness, firstAwaited(harness));
    await harness.runOn();
    expect(status(harness)).toBe('waiting_child');
    const { next } = children;
    if (next !== undefined) children.end(next);
    harness.store.collect(harness.id, children.ends);
    await harness.runOn();

    expect([children.started.size, harness.types.at(-1)]).toEqual([1, 'run.completed']);
  });

  it('of a stopped run is unknown, because the caller may have run it (I6)', async () => {
    const { harness } = build([weather, order]);
    await harness.runOn();

    harness.store.requestStop(harness.id, { requestedAt: '2026-01-01T00:00:00.000Z', reason: null });
    await harness.runOn();

    expect(harness.types.filter((type) => type === 'tool.unknown')).toHaveLength(2);
    expect(harness.types.at(-1)).toBe('run.stopped');
  });
});

describe('a call that its caller does not answer in time', () => {
  it('has failed where another one does no harm', async () => {
    const { harness } = build([weather]);
    await harness.runOn();

    give(harness, firstAwaited(harness), expired);
    await harness.runOn();

    expect(harness.types).toContain('tool.failed');
    expect(listResults(harness)).toEqual([
      toFailedResult('The caller gave no result of this call within 60 s. It may be called again.'),
    ]);
    expect(harness.types.at(-1)).toBe('run.completed');
  });

  it('is unknown where it may have taken effect, and the model is told so (I5)', async () => {
    const { harness } = build([order]);
    await harness.runOn();

    give(harness, firstAwaited(harness), expired);
    await harness.runOn();

    expect(harness.types).toContain('tool.unknown');
    expect(listResults(harness)[0]?.error).toContain('It may have taken effect or not');
    expect(harness.types.at(-1)).toBe('run.completed');
  });

  it('is left to a person where the run says so, and sent to the caller once more if that person wants it', async () => {
    const { harness } = build([order], { processor: { unknown_outcome: 'park' } });
    await harness.runOn();
    const id = firstAwaited(harness);
    give(harness, id, expired);
    await harness.runOn();
    expect(harness.log.at(-1)).toMatchObject({ type: 'run.waiting', data: { reason: 'tool_unknown' } });

    harness.store.resolve(harness.id, id, { outcome: 'retry' });
    await harness.runOn();
    expect([status(harness), firstAwaited(harness)]).toEqual(['waiting_tool', id]);
    const attempts = harness.log.flatMap((fact) => (fact.type === 'tool.started' ? [fact.data.attempt] : []));
    expect(attempts).toEqual([1, 2]);

    give(harness, id);
    await harness.runOn();
    expect(harness.types.at(-1)).toBe('run.completed');
  });
});

describe.each(['parallel', 'sequential'] as const)(
  'a run with tools of its caller whose worker is killed, %s',
  (how) => {
    const wanted = [weather, read, order];
    const settings = { processor: { tool_execution_strategy: how } } as const;

    /** Answers whatever the run waits for, until it is over. */
    async function finish(harness: Harness): Promise<void> {
      for (;;) {
        await harness.runOn();
        if (status(harness) !== 'waiting_tool') return;
        give(harness, firstAwaited(harness));
      }
    }

    it.each(['before', 'after'] as const)('ends the same, killed %s every write (I2, I4, I5, I6)', async (position) => {
      for (let step = 0; ; step++) {
        const { harness, tools } = build(wanted, settings);
        const isReached = await crashAt(harness, { step, position });
        await finish(harness);
        expectWhole(harness.log, `crash ${position} step ${step}`);
        expect([...tools.effects.values()]).toEqual([1]);
        if (!isReached) return;
      }
    });

    /** Lets the worker die at the nth step of all its activations. False if there are fewer. */
    async function crashAt(
      harness: Harness,
      { step, position }: { step: number; position: 'before' | 'after' },
    ): Promise<boolean> {
      let left = step;
      for (;;) {
        let seen = 0;
        const counted = left;
        await harness.crashAt({ step: counted, position, onStep: () => (seen += 1) });
        if (seen > counted) return true;
        left -= seen;
        if (status(harness) !== 'waiting_tool') return false;
        give(harness, firstAwaited(harness));
      }
    }
  },
);

function expectWhole(log: readonly RecordedFact[], about: string): void {
  const planned = log.flatMap((fact) => (fact.type === 'tool.planned' ? [fact.data.tool_call.id] : []));
  const started = log.flatMap((fact) => (fact.type === 'tool.started' ? [fact.data.tool_call_id] : []));
  const completed = log.flatMap((fact) => (fact.type === 'tool.completed' ? [fact.data.tool_call_id] : []));
  expect({
    about,
    seqs: log.map(({ seq }) => seq),
    ends: log.filter(isTerminalFact).map(({ type }) => type),
    started: started.toSorted(),
    completed: completed.toSorted(),
  }).toEqual({
    about,
    seqs: log.map((_, index) => index + 1),
    ends: ['run.completed'],
    started: planned.toSorted(),
    completed: planned.toSorted(),
  });
}
