import { type CallId, type RecordedFact, isTerminal, isTerminalFact } from '@rondo/contract';
import fc from 'fast-check';
import { LedgeredTools, RunHarness, ScriptedModel, calls, says } from '../testing';
import type { ApprovalRuling } from '../tool-calls/approve-call';
import { requiresApproval } from '../tools/approval-rules';
import { builtInTools } from '../tools/catalog';

const wishes = {
  read: { name: 'read_file', arguments: { file_path: 'a.txt' } },
  make: { name: 'execute_command', arguments: { command: 'make', blocking: true } },
  push: { name: 'execute_command', arguments: { command: 'git push', blocking: true } },
  write: { name: 'create_file', arguments: { file_path: 'a.txt', file_contents: 'x' } },
  ask: { name: 'ask', arguments: { text: 'Which?' } },
  badly: { name: 'execute_command', arguments: { command: 7 } },
};

const turn = fc.array(fc.constantFrom(...Object.values(wishes)), { minLength: 1, maxLength: 4 });
interface Chosen {
  readonly strategy: 'parallel' | 'sequential';
  readonly onStream: boolean;
  readonly dialect: 'native' | 'xml_invoke';
  readonly rule: true | Record<string, string>[];
}

const settings: fc.Arbitrary<Chosen> = fc.record({
  strategy: fc.constantFrom<Chosen['strategy'][]>('parallel', 'sequential'),
  onStream: fc.boolean(),
  dialect: fc.constantFrom<Chosen['dialect'][]>('native', 'xml_invoke'),
  rule: fc.constantFrom<Chosen['rule'][]>(true, [{ command: '*push*' }]),
});

type Event =
  | { readonly do: 'activate' }
  | { readonly do: 'stop' }
  | { readonly do: 'crash'; readonly step: number; readonly position: 'before' | 'after' }
  | { readonly do: 'decide'; readonly nth: number; readonly outcome: ApprovalRuling['outcome'] };

const event: fc.Arbitrary<Event> = fc.oneof(
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
      do: fc.constant('decide' as const),
      nth: fc.nat(3),
      outcome: fc.constantFrom('approve' as const, 'deny' as const, 'edit' as const, 'expire' as const),
    }),
  },
);

const edited = { arguments: { command: 'git push --dry-run', blocking: true }, effectClass: 'unsafe' as const };

class World {
  readonly sent = new Map<CallId, unknown[]>();
  readonly harness: RunHarness;

  constructor(turns: readonly (readonly (typeof wishes)[keyof typeof wishes][])[], chosen: Chosen) {
    const tools = new LedgeredTools((call) => {
      this.sent.set(call.id, [...(this.sent.get(call.id) ?? []), call.arguments]);
      return 'done';
    });
    this.harness = new RunHarness({
      model: new ScriptedModel([...turns.map((turn) => calls(...turn)), says('All done.')]),
      tools,
      settings: {
        tools: {
          execute_command: { require_approval: chosen.rule },
          create_file: { require_approval: true, only: true },
        },
        processor: {
          tool_execution_strategy: chosen.strategy,
          execute_on_stream: chosen.onStream,
          dialect: chosen.dialect,
        },
        limits: { max_malformed_calls: 100 },
      },
    });
  }

  get log(): readonly RecordedFact[] {
    return this.harness.log;
  }

  async happen(one: Event): Promise<void> {
    const { harness } = this;
    if (one.do === 'activate') await harness.activate();
    else if (one.do === 'crash') await harness.crashAt(one);
    else if (one.do === 'stop') this.stop();
    else this.decide(one.nth, one.outcome);
  }

  /** The gateway refuses it for a run that is over. */
  private stop(): void {
    const { store, id } = this.harness;
    const request = { requestedAt: '2026-01-01T00:00:00.000Z', reason: null };
    if (!isTerminal(store.status(id))) store.requestStop(id, request);
  }

  /** Of any call, also one that awaits nothing. */
  decide(nth: number, outcome: ApprovalRuling['outcome']): void {
    const id = [...this.harness.state.calls.keys()][nth];
    const isEdit = outcome === 'edit';
    const ruling = { outcome, decidedBy: 'key_1', argumentsHash: null, ...(isEdit && { edited }) };
    if (id) this.harness.store.decide(this.harness.id, id, ruling);
  }

  /** Approves and answers until the run is over. */
  async finish(): Promise<void> {
    const { harness } = this;
    for (let rounds = 0; rounds < 100; rounds++) {
      await harness.runOn();
      if (harness.store.status(harness.id) !== 'waiting_input') return;
      const [next] = this.awaited();
      if (next) this.decide([...harness.state.calls.keys()].indexOf(next), 'approve');
      else harness.store.answer(harness.id, 'This one.');
    }
  }

  private awaited(): CallId[] {
    const last = this.log.at(-1);
    return last?.type === 'run.waiting' ? (last.data.approvals ?? []).map(({ tool_call_id: id }) => id) : [];
  }
}

/** What must be true after whatever happened. */
function check({ log, sent, harness }: World): void {
  expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index + 1));
  for (const fact of log) {
    if (fact.type !== 'tool.planned') continue;
    const { tool_call: call } = fact.data;
    const own = log.filter(({ data }) => 'tool_call_id' in data && data.tool_call_id === call.id);
    const decisions = own.filter((one) => one.type === 'approval.decided');
    expect(decisions.length).toBeLessThanOrEqual(1);
    expect(own.filter(({ type }) => type === 'approval.requested').length).toBeLessThanOrEqual(1);
    expect(sent.get(call.id)?.length ?? 0).toBeLessThanOrEqual(call.effect_class === 'unsafe' ? 1 : 99);
    if (!sent.has(call.id) || !requiresApproval({ settings: harness.settings, tools: builtInTools }, call)) continue;
    const [decision] = decisions;
    expect(['approve', 'edit']).toContain(decision?.data.outcome);
    const approved = decision?.data.arguments ?? call.arguments;
    for (const given of sent.get(call.id) ?? []) expect(given).toEqual(approved);
  }
}

describe('approvals, whatever happens in whatever order', () => {
  it('no call runs without its approval, none is decided twice, and each has one answer in the end (I2, I5, I6)', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(turn, { minLength: 1, maxLength: 3 }),
        settings,
        fc.array(event, { maxLength: 25 }),
        async (turns, chosen, events) => {
          const world = new World(turns, chosen);
          for (const one of events) {
            await world.happen(one);
            check(world);
          }
          await world.finish();
          check(world);

          const { log } = world;
          expect(log.filter(isTerminalFact)).toHaveLength(1);
          const planned = log.flatMap((fact) => (fact.type === 'tool.planned' ? [fact.data.tool_call.id] : []));
          const answered = log.flatMap((fact) =>
            fact.type === 'tool.completed' || fact.type === 'tool.failed' || fact.type === 'tool.unknown'
              ? [fact.data.tool_call_id]
              : [],
          );
          expect(answered.toSorted()).toEqual(planned.toSorted());
        },
      ),
      { numRuns: 200 },
    );
  });
});
