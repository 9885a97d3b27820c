import { type CallId, isTerminal, isTerminalFact } from '@rondo/contract';
import fc from 'fast-check';
import { LedgeredTools, RunHarness, ScriptedModel, SimulatedProgram, calls, says } from '../testing';
import { requestViolations } from '../testing/request-violations';
import type { CallerOutcome } from '../tool-calls/caller-calls';

const wishes = {
  read: { name: 'read_file', arguments: { file_path: 'a.txt' } },
  make: { name: 'execute_command', arguments: { command: 'make', blocking: true } },
  taxi: { name: 'order_taxi', arguments: { to: 'Bergen' } },
  ask: { name: 'ask', arguments: { text: 'Which?' } },
  none: { name: 'fly', arguments: {} },
};
const program = { name: 'run_program', arguments: { language: 'node', source: '…' } };

const batch = fc.array(fc.constantFrom(...Object.values(wishes)), { minLength: 1, maxLength: 3 });
const chosen = fc.record({
  strategy: fc.constantFrom('parallel' as const, 'sequential' as const),
  onStream: fc.boolean(),
  unknownOutcome: fc.constantFrom('report' as const, 'park' as const),
  needsApproval: fc.boolean(),
  twoPrograms: fc.boolean(),
  /** Of ten attempts at anything, those whose executor dies. */
  dying: fc.array(fc.nat(9), { maxLength: 2 }),
});
type Chosen = typeof chosen extends fc.Arbitrary<infer Value> ? Value : never;

const event = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('activate' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('stop' as const) }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('crash' as const),
      step: fc.nat(16),
      position: fc.constantFrom('before' as const, 'after' as const),
    }),
  },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('help' as const) }) },
);
type Event = typeof event extends fc.Arbitrary<infer Value> ? Value : never;

/** A run with a program, its worker, its caller and a person. */
class World {
  readonly effects = new Map<CallId, number>();
  readonly simulated: SimulatedProgram;
  readonly model: ScriptedModel;
  readonly harness: RunHarness;
  private sent = 0;

  constructor(
    private readonly batches: readonly (readonly (typeof wishes)[keyof typeof wishes][])[],
    choice: Chosen,
  ) {
    this.simulated = new SimulatedProgram(batches);
    const tools = new LedgeredTools(
      (call) => {
        if (call.name === program.name) return this.simulated.run(call);
        this.effects.set(call.id, (this.effects.get(call.id) ?? 0) + 1);
        return `effect of ${call.id}`;
      },
      () => choice.dying.includes(this.sent++ % 10),
    );
    this.model = new ScriptedModel([calls(program, ...(choice.twoPrograms ? [program] : [])), says('All done.')]);
    this.harness = new RunHarness({
      model: this.model,
      tools,
      settings: {
        caller_tools: [{ name: 'order_taxi', description: 'A tool.', effect_class: 'unsafe' }],
        tools: { code: true, ...(choice.needsApproval && { read_file: { require_approval: true, only: true } }) },
        processor: {
          tool_execution_strategy: choice.strategy,
          execute_on_stream: choice.onStream,
          unknown_outcome: choice.unknownOutcome,
        },
      },
    });
  }

  get isOver(): boolean {
    return isTerminal(this.harness.store.status(this.harness.id));
  }

  async happen(one: Event): Promise<void> {
    const { store, id } = this.harness;
    if (one.do === 'activate') await this.harness.activate();
    else if (one.do === 'crash') await this.harness.crashAt(one);
    else if (one.do === 'help') this.help();
    else if (!this.isOver) store.requestStop(id, { requestedAt: '2026-01-01T00:00:00.000Z', reason: null });
  }

  /** What the run waits for: a result of the caller, an approval, or what became of a call. */
  help(): void {
    const { store, id, state } = this.harness;
    const known = [...state.calls.keys()];
    const outcome: CallerOutcome = {
      ...{ how: 'answered', result: { success: true, output: 'ordered' }, durationMs: 1, answeredBy: 'key_1' },
    };
    store.answerAsCaller(id, new Map(known.map((call) => [call, outcome])));
    if (store.status(id) !== 'waiting_input') return;
    const waiting = this.harness.log.findLast(({ type }) => type === 'run.waiting');
    const isApproval = waiting?.type === 'run.waiting' && waiting.data.reason === 'approval';
    for (const call of known)
      if (isApproval) store.decide(id, call, { outcome: 'approve', decidedBy: 'key_1', argumentsHash: null });
      else store.resolve(id, call, { outcome: 'completed' });
  }

  async finish(): Promise<void> {
    for (let rounds = 0; rounds < 200 && !this.isOver; rounds++) {
      await this.harness.runOn();
      this.help();
    }
  }

  /** What must be true after whatever happened. */
  check(): void {
    const { log } = this.harness;
    expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index + 1));
    for (const { messages } of this.model.requests) expect(requestViolations(messages)).toEqual([]);
    const planned = log.flatMap((fact) => (fact.type === 'tool.planned' ? [fact.data.tool_call] : []));
    expect(new Set(planned.map(({ id }) => id)).size).toBe(planned.length);
    for (const { id, effect_class, program: place, name } of planned) {
      if (effect_class === 'unsafe') expect(this.effects.get(id) ?? 0).toBeLessThanOrEqual(1);
      if (place) expect(name).toBe(this.batches.flat()[place.position]?.name);
    }
    const shown = this.model.requests.map((request) => JSON.stringify(request.messages));
    if (shown.some((text) => text.includes('effect of'))) expect(shown.join('')).toContain('It was told');
  }
}

const answers: readonly string[] = ['tool.completed', 'tool.failed', 'tool.unknown'];

describe('a program, whatever happens in whatever order', () => {
  it('has each of its calls made once, and ends with the answers of all of them (I2, I4, I5, I6)', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(batch, { maxLength: 4 }),
        chosen,
        fc.array(event, { maxLength: 20 }),
        async (batches, choice, events) => {
          const world = new World(batches, choice);
          for (const one of events) {
            await world.happen(one);
            world.check();
          }
          await world.finish();
          world.check();

          const { log } = world.harness;
          expect(log.filter(isTerminalFact)).toHaveLength(1);
          const planned = log.flatMap((fact) => (fact.type === 'tool.planned' ? [fact.data.tool_call.id] : []));
          const told = log.flatMap(({ type, data }) =>
            answers.includes(type) && 'message_id' in data && data.message_id !== undefined && 'tool_call_id' in data
              ? [data.tool_call_id]
              : [],
          );
          expect(told.toSorted()).toEqual(planned.toSorted());
        },
      ),
      { numRuns: 200 },
    );
  });

  it.each(['before', 'after'] as const)(
    'ends the same when its worker is killed %s every single write',
    async (position) => {
      const { read, make } = wishes;
      const choice: Chosen = {
        ...{ strategy: 'parallel', onStream: false, unknownOutcome: 'report', needsApproval: false },
        ...{ twoPrograms: true, dying: [] },
      };
      const build = () => new World([[make, read], [make], [make]], choice);
      let steps = 0;
      await build().harness.activate((_, at) => {
        if (at === 'after') steps += 1;
      });
      expect(steps).toBeGreaterThan(15);

      for (let step = 0; step < steps; step++) {
        const world = build();
        await world.harness.crashAt({ step, position });
        await world.finish();
        world.check();
        const result = world.harness.log.flatMap((fact) =>
          fact.type === 'tool.completed' && fact.data.name === program.name ? [fact.data.result.output] : [],
        );
        expect(result).toHaveLength(2);
        expect([...world.effects.values()]).toEqual(Array.from({ length: 8 }, () => 1));
      }
    },
  );
});
