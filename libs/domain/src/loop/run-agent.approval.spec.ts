import type { CallId, FactWithType, RecordedFact, SettingsRequest } from '@rondo/contract';
import { LedgeredTools, RunHarness, ScriptedModel, calls, says } from '../testing';
import type { ApprovalRuling } from '../tool-calls/approve-call';

const read = { name: 'read_file', arguments: { file_path: 'a.txt' } };
const command = { name: 'execute_command', arguments: { command: 'make', blocking: true } };
const edited = { arguments: { command: 'make check', blocking: true }, effectClass: 'unsafe' as const };

const ruling = (outcome: ApprovalRuling['outcome'], reason?: string): ApprovalRuling => ({
  outcome,
  decidedBy: outcome === 'expire' ? null : 'key_1',
  argumentsHash: 'hash',
  reason,
  ...(outcome === 'edit' && { edited }),
});

function build(
  wanted: readonly { name: string; arguments: unknown }[] = [command, read],
  settings: SettingsRequest = {},
) {
  const sent: unknown[] = [];
  const tools = new LedgeredTools((call) => {
    sent.push(call.arguments);
    return `did ${call.name}`;
  });
  const model = new ScriptedModel([calls(...wanted), says('All done.')]);
  const harness = new RunHarness({
    model,
    tools,
    settings: { tools: { execute_command: { require_approval: true } }, ...settings },
  });
  return { harness, tools, model, sent };
}

const status = ({ store, id }: RunHarness) => store.status(id);
const waiting = ({ log }: RunHarness) => {
  const last = log.findLast((fact) => fact.type === 'run.waiting');
  return last?.type === 'run.waiting' ? last.data : undefined;
};
const awaited = (harness: RunHarness): CallId[] =>
  (waiting(harness)?.approvals ?? []).map(({ tool_call_id: id }) => id);
const decide = (harness: RunHarness, id: CallId | undefined, one: ApprovalRuling) =>
  id !== undefined && harness.store.decide(harness.id, id, one);
const listResults = (harness: RunHarness) =>
  harness.state.conversation
    .flatMap(({ content }) => content.flatMap((block) => (block.type === 'tool_result' ? [block] : [])))
    .sort((a, b) => (a.tool_call_id < b.tool_call_id ? -1 : 1))
    .map(({ result }) => result);
const listFacts = <Type extends RecordedFact['type']>({ log }: RunHarness, type: Type) =>
  log.filter((fact): fact is FactWithType<Type> => fact.type === type);

describe('a call that needs approval', () => {
  it('parks the run once every other call is answered, and is not sent', async () => {
    const { harness, sent } = build();

    await harness.runOn();

    expect(status(harness)).toBe('waiting_input');
    expect(sent).toEqual([read.arguments]);
    expect(harness.types.slice(-2)).toEqual(['approval.requested', 'run.waiting']);
    const [requested] = listFacts(harness, 'approval.requested');
    expect(waiting(harness)).toMatchObject({ reason: 'approval', approvals: [requested?.data] });
    const { requested_at, expires_at } = requested?.data ?? { requested_at: '', expires_at: '' };
    expect(Date.parse(expires_at) - Date.parse(requested_at)).toBe(86_400_000);
  });

  it.each([
    ['approve', { success: true, output: 'did execute_command' }, [command.arguments]],
    ['deny', { success: false, error: expect.stringMatching(/denied.*not executed.*Too risky/s) }, []],
    [
      'edit',
      { success: true, output: expect.stringMatching(/A person changed.*make check.*did exec/s) },
      [edited.arguments],
    ],
    ['expire', { success: false, error: expect.stringContaining('no decision was made in time') }, []],
  ] as const)('goes on as a person decides: %s', async (outcome, result, ran) => {
    const { harness, sent, model } = build([command]);
    await harness.runOn();

    expect(decide(harness, awaited(harness)[0], ruling(outcome, 'Too risky.'))).toBe(true);
    expect(status(harness)).toBe('queued');
    await harness.runOn();

    expect(sent).toEqual(ran);
    expect(listResults(harness)).toMatchObject([result]);
    expect(model.requests[1]?.messages.at(-1)).toMatchObject({ role: 'tool' });
    expect(harness.types.at(-1)).toBe('run.completed');
  });

  it('records the decision, then the result of a denied call, then that the run resumes', async () => {
    const { harness } = build([command]);
    await harness.runOn();
    const before = harness.log.length;

    decide(harness, awaited(harness)[0], ruling('deny'));

    expect(harness.types.slice(before)).toEqual(['approval.decided', 'tool.failed', 'message.created', 'run.resumed']);
  });

  it('is asked about together with the others, decided in any order, and the run goes on after the last', async () => {
    const { harness, sent } = build([command, command]);
    await harness.runOn();
    const [first, second] = awaited(harness);

    expect(decide(harness, second, ruling('approve'))).toBe(true);
    expect([status(harness), awaited(harness)]).toEqual(['waiting_input', [first]]);
    expect(decide(harness, first, ruling('deny'))).toBe(true);
    await harness.runOn();

    expect(sent).toHaveLength(1);
    expect(listResults(harness).map(({ success }) => success)).toEqual([false, true]);
  });

  it('is asked about one after the other where calls are sequential', async () => {
    const { harness, sent } = build([command, read, command], {
      processor: { tool_execution_strategy: 'sequential' },
    });
    await harness.runOn();
    expect([awaited(harness).length, sent.length]).toEqual([1, 0]);

    decide(harness, awaited(harness)[0], ruling('approve'));
    await harness.runOn();
    expect([awaited(harness).length, sent.length]).toEqual([1, 2]);

    decide(harness, awaited(harness)[0], ruling('approve'));
    await harness.runOn();
    expect(sent).toHaveLength(3);
    expect(harness.types.at(-1)).toBe('run.completed');
  });

  it('behind the end of a sequential turn is not asked about', async () => {
    const { harness } = build([{ name: 'complete', arguments: { text: 'Done.' } }, command], {
      processor: { tool_execution_strategy: 'sequential' },
    });

    await harness.runOn();

    expect(harness.types).not.toContain('approval.requested');
    expect(listResults(harness).at(-1)).toMatchObject({ error: expect.stringContaining('not executed') });
  });

  it('is not sent while the reply still streams', async () => {
    const { harness, sent } = build([command], { processor: { execute_on_stream: true } });

    await harness.runOn();

    expect([sent, status(harness)]).toEqual([[], 'waiting_input']);
  });

  it('accepts one decision, and none where none is awaited', async () => {
    const { harness } = build([command, read]);
    await harness.runOn();
    const [inDoubt, done] = [...harness.state.calls.keys()];

    expect(decide(harness, done, ruling('approve'))).toBe(false);
    expect(decide(harness, inDoubt, ruling('approve'))).toBe(true);
    expect(decide(harness, inDoubt, ruling('deny'))).toBe(false);
    await harness.runOn();
    expect(decide(harness, inDoubt, ruling('deny'))).toBe(false);
  });

  it('is answered as never run when the run is stopped (I6)', async () => {
    const { harness, sent } = build([command, command]);
    await harness.runOn();

    harness.store.requestStop(harness.id, { requestedAt: '2026-01-01T00:00:00.000Z', reason: null });
    await harness.runOn();

    expect(sent).toEqual([]);
    expect(listResults(harness).map(({ error }) => error)).toEqual(
      [1, 2].map(() => expect.stringContaining('stopped')),
    );
    expect(harness.types.at(-1)).toBe('run.stopped');
  });

  it('may be one that the worker answers itself', async () => {
    const { harness } = build([{ name: 'complete', arguments: { text: 'Done.' } }], {
      tools: { complete: { require_approval: true } },
    });
    await harness.runOn();
    expect(status(harness)).toBe('waiting_input');

    decide(harness, awaited(harness)[0], ruling('approve'));
    await harness.runOn();
    expect(harness.log.at(-1)).toMatchObject({ type: 'run.completed', data: { finish_reason: 'complete' } });
  });
});

describe('the rules of a run', () => {
  const createApprovals = (settings: SettingsRequest) =>
    new RunHarness({ model: new ScriptedModel([]), settings }).settings;

  it('come from agent and run, the later one wins', () => {
    const agent = { tools: { shell: { require_approval: true }, read_file: { require_approval: true } } };
    expect(
      createApprovals({ agent, tools: { read_file: { require_approval: false } }, approval_expires_s: 60 }).approvals,
    ).toEqual({ rules: { shell: true, read_file: false }, expires_s: 60 });
    expect(createApprovals({ agent: { tools: ['ask'] } })).not.toHaveProperty('approvals');
    expect(createApprovals({ tools: { read_file: { require_approval: false } } })).not.toHaveProperty('approvals');
  });
});

describe.each(['parallel', 'sequential'] as const)(
  'a run with approvals whose worker is killed, tools %s',
  (strategy) => {
    const settings = { processor: { tool_execution_strategy: strategy } } as const;
    const wanted = [command, read, command];

    async function decideAll(harness: RunHarness, outcome: ApprovalRuling['outcome']): Promise<void> {
      await harness.runOn();
      while (status(harness) === 'waiting_input') {
        decide(harness, awaited(harness)[0], ruling(outcome));
        await harness.runOn();
      }
    }

    it.each([
      ['approve', 'before'],
      ['approve', 'after'],
      ['edit', 'after'],
      ['deny', 'before'],
    ] as const)('ends the same with the decision %s, killed %s every write (I2, I4, I5)', async (outcome, position) => {
      const oracle = build(wanted, settings);
      await decideAll(oracle.harness, outcome);

      for (let step = 0; step < oracle.harness.log.length; step++) {
        const { harness, tools } = build(wanted, settings);
        await harness.crashAt({ step, position });
        await decideAll(harness, outcome);

        expect({ step, results: listResults(harness), end: harness.types.at(-1) }).toEqual({
          step,
          results: listResults(oracle.harness),
          end: 'run.completed',
        });
        expect(harness.log.map(({ seq }) => seq)).toEqual(harness.log.map((_, index) => index + 1));
        expect(listFacts(harness, 'approval.requested')).toHaveLength(2);
        expect([...tools.effects.values()].every((count) => count <= 1)).toBe(true);
      }
    });

    it.each(['before', 'after'] as const)(
      'applies a decision once, killed %s every write after it',
      async (position) => {
        const oracle = build(wanted, settings);
        await oracle.harness.runOn();
        for (let step = 0; step < 12; step++) {
          const { harness, tools, sent } = build(wanted, settings);
          await harness.runOn();
          decide(harness, awaited(harness)[0], ruling('edit'));
          await harness.crashAt({ step, position });
          await decideAll(harness, 'edit');

          expect(harness.types.at(-1)).toBe('run.completed');
          expect([...tools.effects.values()]).toEqual([1, 1, 1]);
          expect(sent.filter((given) => JSON.stringify(given) === JSON.stringify(edited.arguments))).toHaveLength(2);
        }
      },
    );
  },
);
