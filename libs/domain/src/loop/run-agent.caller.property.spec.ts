import { type CallId, type EffectClass, type RecordedFact, isTerminal, isTerminalFact } from '@rondo/contract';
import fc from 'fast-check';
import { LedgeredTools, RunHarness, ScriptedModel, calls, says } from '../testing';
import type { CallerOutcome } from '../tool-calls/caller-calls';

const wishes = {
  weather: { name: 'get_weather', arguments: { city: 'Bergen' } },
  taxi: { name: 'order_taxi', arguments: { to: 'Bergen' } },
  read: { name: 'read_file', arguments: { file_path: 'a.txt' } },
  make: { name: 'execute_command', arguments: { command: 'make', blocking: true } },
  ask: { name: 'ask', arguments: { text: 'Which?' } },
};

const turn = fc.array(fc.constantFrom(...Object.values(wishes)), { minLength: 1, maxLength: 4 });
const chosen = fc.record({
  strategy: fc.constantFrom('parallel' as const, 'sequential' as const),
  onStream: fc.boolean(),
  dialect: fc.constantFrom('native' as const, 'xml_invoke' as const),
  unknownOutcome: fc.constantFrom('report' as const, 'park' as const),
  effectClass: fc.constantFrom<EffectClass[]>('pure', 'unsafe'),
  needsApproval: fc.boolean(),
});
type Chosen = typeof chosen extends fc.Arbitrary<infer Value> ? Value : never;

const event = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('activate' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('stop' as const) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('crash' as const),
      step: fc.nat(12),
      position: fc.constantFrom('before' as const, 'after' as const),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('answer' as const),
      nths: fc.array(fc.nat(3), { minLength: 1 }),
      late: fc.boolean(),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('decide' as const) }) },
);
type Event = typeof event extends fc.Arbitrary<infer Value> ? Value : never;

/** A run, its worker, its caller, and a person. */
class World {
  readonly executed = new Map<CallId, number>();
  readonly harness: RunHarness;

  constructor(turns: readonly (readonly (typeof wishes)[keyof typeof wishes][])[], choice: Chosen) {
    const tools = new LedgeredTools((call) => {
      this.executed.set(call.id, (this.executed.get(call.id) ?? 0) + 1);
      return 'done';
    });
    const { effectClass: effect_class, needsApproval } = choice;
    this.harness = new RunHarness({
      model: new ScriptedModel([...turns.map((one) => calls(...one)), says('All done.')]),
      tools,
      settings: {
        caller_tools: ['get_weather', 'order_taxi'].map((name) => ({ name, description: 'A tool.', effect_class })),
        ...(needsApproval && { tools: { order_taxi: { require_approval: true } } }),
        processor: {
          tool_execution_strategy: choice.strategy,
          execute_on_stream: choice.onStream,
          dialect: choice.dialect,
          unknown_outcome: choice.unknownOutcome,
        },
      },
    });
  }

  get log(): readonly RecordedFact[] {
    return this.harness.log;
  }

  async happen(one: Event): Promise<void> {
    if (one.do === 'activate') await this.harness.activate();
    else if (one.do === 'crash') await this.harness.crashAt(one);
    else if (one.do === 'stop') this.stop();
    else if (one.do === 'decide') this.helpByPerson();
    else this.answer(one.nths, one.late);
  }

  /** The gateway refuses it for a run that is over. */
  private stop(): void {
    const { store, id } = this.harness;
    if (!isTerminal(store.status(id))) store.requestStop(id, { requestedAt: '2026-01-01T00:00:00.000Z', reason: null });
  }

  /** Of any calls at once, also of those that await nothing. */
  answer(nths: readonly number[], late = false): boolean {
    const all = [...this.harness.state.calls.keys()];
    const outcome: CallerOutcome = late
      ? { how: 'expired', durationMs: 1_000 }
      : { how: 'answered', result: { success: true, output: 'sun' }, durationMs: 1, answeredBy: 'key_1' };
    const outcomes = new Map(nths.flatMap((nth): [CallId, CallerOutcome][] => (all[nth] ? [[all[nth], outcome]] : [])));
    return this.harness.store.answerAsCaller(this.harness.id, outcomes);
  }

  /** Approves, resolves, or answers the question. */
  helpByPerson(): void {
    const { store, id } = this.harness;
    if (store.status(id) !== 'waiting_input') return;
    const last = this.log.findLast(({ type }) => type === 'run.waiting');
    const waiting = last?.type === 'run.waiting' ? last.data : undefined;
    const calls = [...this.harness.state.calls.keys()];
    if (waiting?.reason === 'ask') store.answer(id, 'This one.');
    else if (waiting?.reason === 'approval')
      for (const call of calls) store.decide(id, call, { outcome: 'approve', decidedBy: 'key_1', argumentsHash: null });
    else for (const call of calls) store.resolve(id, call, { outcome: 'completed' });
  }

  /** Helps until the run is over. */
  async finish(): Promise<void> {
    const { harness } = this;
    for (let rounds = 0; rounds < 100 && !isTerminal(harness.store.status(harness.id)); rounds++) {
      await harness.runOn();
      this.answer([0, 1, 2, 3]);
      this.helpByPerson();
    }
  }
}

const answers: readonly RecordedFact['type'][] = ['tool.completed', 'tool.failed', 'tool.unknown'];
const callers: readonly string[] = ['get_weather', 'order_taxi'];

/** What must be true after whatever happened. */
function check({ log, executed, harness }: World): void {
  expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index + 1));
  for (const fact of log) {
    if (fact.type !== 'tool.planned') continue;
    const { tool_call: call } = fact.data;
    const own = log.filter(({ data }) => 'tool_call_id' in data && data.tool_call_id === call.id);
    const told = own.filter(({ type, data }) => answers.includes(type) && 'message_id' in data && data.message_id);
    expect(told.length).toBeLessThanOrEqual(1);
    const isCallers = callers.includes(call.name);
    const byCaller = own.filter(({ data }) => 'answered_by' in data);
    expect(byCaller.length).toBeLessThanOrEqual(isCallers ? 1 : 0);
    if (isCallers) expect(executed.get(call.id) ?? 0).toBe(0);
    const started = own.filter(({ type }) => type === 'tool.started');
    if (byCaller.length > 0) expect(started.length).toBeGreaterThan(0);
  }
  const last = log.at(-1);
  const isWaitingForCaller = last?.type === 'run.waiting' && last.data.reason === 'caller_tools';
  if (isWaitingForCaller) expect(harness.store.status(harness.id)).not.toBe('waiting_input');
}

describe('tools of the caller, whatever happens in whatever order', () => {
  it('no executor runs their calls, each has one answer in the end, and no second one is taken (I2, I5, I6)', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(turn, { minLength: 1, maxLength: 3 }),
        chosen,
        fc.array(event, { maxLength: 25 }),
        async (turns, choice, events) => {
          const world = new World(turns, choice);
          for (const one of events) {
            await world.happen(one);
            check(world);
          }
          await world.finish();
          check(world);

          const { log } = world;
          expect(log.filter(isTerminalFact)).toHaveLength(1);
          const planned = log.flatMap((fact) => (fact.type === 'tool.planned' ? [fact.data.tool_call.id] : []));
          const told = log.flatMap((fact) =>
            (fact.type === 'tool.completed' || fact.type === 'tool.failed' || fact.type === 'tool.unknown') &&
            fact.data.message_id !== undefined
              ? [fact.data.tool_call_id]
              : [],
          );
          expect(told.toSorted()).toEqual(planned.toSorted());
        },
      ),
      { numRuns: 200 },
    );
  });
});
