import { type RunEvent, type SettingsRequest, eventId, runId, threadId } from '@rondo/contract';
import {
  ClaimLostError,
  type Model,
  TerminalError,
  type ToolAnswer,
  budgetOfModel,
  effectiveSettings,
} from '@rondo/domain';
import {
  CountingIdsAndClock,
  EvenTokenCounter,
  InMemoryRunStore,
  LedgeredTools,
  ScriptedModel,
  calls,
  says,
} from '@rondo/domain/testing';
import { AgentRunner, type AgentRunnerParts, type ActiveTools } from './agent-runner';
import { AbandonedError } from './active-run';
import { ActiveRuns } from './active-runs';

const id = runId.parse('run_1');
const command = { name: 'execute_command', arguments: { command: 'make', blocking: true } };
const stop = { requestedAt: '2026-01-01T00:00:00.000Z', reason: null };

function house(
  model: Model,
  tools: Partial<ActiveTools> = {},
  parts: Partial<AgentRunnerParts> = {},
  settings: SettingsRequest = {},
) {
  const store = new InMemoryRunStore();
  const effective = effectiveSettings(settings, { model: 'demo/coder' });
  if ('problems' in effective) throw new Error('the defaults are valid');
  store.create({ id, threadId: threadId.parse('thr_1'), settings: effective.settings, input: 'Go.' });

  const held = new ActiveRuns();
  const shown: RunEvent[] = [];
  const hands = new LedgeredTools();
  const reported: unknown[] = [];
  const queued: RunEvent[][] = [];
  const runner = new AgentRunner({
    owner: 'worker',
    store,
    feed: { publish: (events) => shown.push(...events) },
    modelFor: () => model,
    tokens: new EvenTokenCounter(),
    budgetOf: budgetOfModel,
    toolsFor: () => ({
      store: hands.store,
      execute: (call, signal) => hands.execute(call, signal),
      reattach: (call, signal) => hands.reattach(call, signal),
      endRun: () => hands.endRun(),
      close: () => undefined,
      ...tools,
    }),
    clerk: new CountingIdsAndClock(),
    held,
    broke: (about) => reported.push(about),
    passes: () => false,
    handedOver: () => Promise.resolve(void queued.push([...shown])),
    journal: { frameMs: 5, newEventId: () => eventId.parse('evt_1'), now: () => new Date(0).toISOString() },
    ...parts,
  });
  return { store, held, shown, hands, runner, reported, queued };
}

/** A model that begins to speak and then says nothing more until it is aborted. */
const hangingModel = (onHanging: () => void): Model => ({
  async *stream(_, signal) {
    yield [{ type: 'text', text: 'Well' }];
    await new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve());
      onHanging();
    });
    yield [{ type: 'end', how: 'aborted' }];
  },
});

/** Hands that are busy until they are let go of. */
function busyHands(onBusy: () => void): Partial<ActiveTools> {
  let letGo: (reason: Error) => void = () => undefined;
  const execute = () =>
    new Promise<ToolAnswer>((_, reject) => {
      letGo = reject;
      onBusy();
    });
  return { execute, reattach: execute, close: (reason) => letGo(reason) };
}

describe('AgentRunner', () => {
  it('takes a run to its end and shows every fact after it was committed, in order', async () => {
    const { runner, store, shown } = house(new ScriptedModel([calls(command), says('Done.')]));

    expect(await runner.activate(id)).toBe('ended');

    const facts = shown.filter(({ seq }) => seq !== null);
    expect(facts).toEqual(store.log(id).slice(2));
    expect(await runner.activate(id)).toBe('not due');
  });

  it('shows the deltas of a message before the fact that supersedes them', async () => {
    const { runner, shown } = house(new ScriptedModel([says('One two')]));

    await runner.activate(id);

    const types = shown.map(({ type }) => type);
    expect(types.lastIndexOf('message.delta')).toBeLessThan(types.indexOf('message.created'));
  });

  it('cuts a run short when its time is over, whatever it is doing', async () => {
    const clerk = Object.assign(new CountingIdsAndClock(), { now: () => new Date().toISOString() });
    const { runner, store } = house(
      hangingModel(() => undefined),
      {},
      { clerk },
      { limits: { max_duration_s: 1 } },
    );

    expect(await runner.activate(id)).toBe('ended');

    expect(store.log(id).at(-1)).toMatchObject({
      type: 'run.failed',
      data: { error: { code: 'max_duration_exceeded' } },
    });
    expect(JSON.stringify(store.log(id))).toContain('Well');
  });

  it('brings a run that waits for a summary to the summarizers at once', async () => {
    const fold = { name: 'compactify_memory', arguments: {} };
    const { runner, queued } = house(new ScriptedModel([calls(command), calls(fold)]));

    expect(await runner.activate(id)).toBe('parked');

    expect(queued.map((shown) => shown.at(-1)?.type)).toEqual(['context.compaction_started']);
  });

  it.each([
    ['the model speaks', () => house(hangingModel(() => queueMicrotask(() => leave(now.held))))],
    [
      'a tool runs',
      () =>
        house(
          new ScriptedModel([calls(command)]),
          busyHands(() => queueMicrotask(() => leave(now.held))),
        ),
    ],
    [
      'images are fetched',
      () =>
        house(
          new ScriptedModel([]),
          {},
          {
            withImages: (claim, signal) =>
              new Promise((resolve) => {
                signal.addEventListener('abort', () => resolve(claim));
                queueMicrotask(() => leave(now.held));
              }),
          },
        ),
    ],
  ])('leaves at once while %s, and the run can be taken on', async (_, build) => {
    now = build();

    expect(await now.runner.activate(id)).toBe('handed over');

    expect(now.held.size).toBe(0);
    expect(await now.store.claim(id, 'other')).toBeDefined();
  });

  it('stops a run at once while images are fetched, and asks no model', async () => {
    const { runner, store, held } = house(
      new ScriptedModel([]),
      {},
      {
        withImages: (claim, signal) =>
          new Promise((resolve) => {
            signal.addEventListener('abort', () => resolve(claim));
            queueMicrotask(() => held.find(id)?.stop(stop));
          }),
      },
    );

    expect(await runner.activate(id)).toBe('ended');
    expect(store.log(id).map(({ type }) => type)).not.toContain('iteration.started');
    expect(store.status(id)).toBe('stopped');
  });

  it('leaves quietly when another holder has claimed the run (I3)', async () => {
    const claimIsLost = () => held.find(id)?.abandon(new ClaimLostError(id));
    const onceItsStartIsWritten = () => setImmediate(() => setImmediate(claimIsLost));
    const { runner, store, held } = house(hangingModel(onceItsStartIsWritten));

    expect(await runner.activate(id)).toBe('claim lost');
    expect(store.status(id)).toBe('running');
  });

  it('keeps what a tool answered when the model then fails for good', async () => {
    const callsOnce = new ScriptedModel([calls(command)]);
    const { runner, store } = house({
      async *stream(request, signal) {
        if (request.messages.some(({ role }) => role === 'tool')) throw new TerminalError('model_refused', 'No.');
        yield* callsOnce.stream(request, signal);
      },
    });

    expect(await runner.activate(id)).toBe('ended');
    const types = store.log(id).map(({ type }) => type);
    expect(types.filter((type) => type.startsWith('tool.'))).toEqual([
      'tool.planned',
      'tool.started',
      'tool.completed',
    ]);
    expect(types.at(-1)).toBe('run.failed');
  });

  it('goes on as a stop when the stop was committed before its end was (I7)', async () => {
    const built = house({
      async *stream(request, signal) {
        built.store.requestStop(id, stop);
        yield* new ScriptedModel([says('Done.')]).stream(request, signal);
      },
    });

    expect(await built.runner.activate(id)).toBe('ended');

    expect(built.store.log(id).map(({ type }) => type)).toEqual(expect.arrayContaining(['usage.recorded']));
    expect(JSON.stringify(built.store.log(id))).toContain('Done.');
    expect(built.store.status(id)).toBe('stopped');
    expect(built.held.size).toBe(0);
    expect(built.queued).toEqual([]);
  });

  it('stops a run whose stop came while it was being failed (I7)', async () => {
    const { runner, store } = house({
      stream: () => {
        throw new TerminalError('no_such_model', 'There is no such model.');
      },
    });
    const append = store.append.bind(store);
    jest.spyOn(store, 'append').mockImplementation((claim, facts) => {
      if (facts.some(({ type }) => type === 'run.failed')) store.requestStop(id, stop);
      return append(claim, facts);
    });

    expect(await runner.activate(id)).toBe('ended');

    expect(store.status(id)).toBe('stopped');
  });

  it('has let go of a run before it waits for a queue, which may be silent (R14)', async () => {
    let heldThen: number | undefined;
    const hears = new Promise<void>((resolve) => {
      const built = house(
        hangingModel(() => queueMicrotask(() => leave(built.held))),
        {},
        {
          handedOver: () => {
            heldThen = built.held.size;
            resolve();
            return new Promise(() => undefined);
          },
        },
      );
      void built.runner.activate(id);
    });

    await hears;

    expect(heldThen).toBe(0);
  });

  it('waits with a run while the database has no room for it, and charges it nothing', async () => {
    const full = new Error('disk full');
    const { runner, store, reported } = house(
      new ScriptedModel([says('Done.')]),
      {},
      { passes: (error) => error === full },
    );
    jest.spyOn(store, 'append').mockRejectedValueOnce(full);
    const began = performance.now();

    expect(await runner.activate(id)).toBe('handed over');

    expect(performance.now() - began).toBeGreaterThan(200);
    expect(reported).toEqual([]);
    expect(await runner.activate(id)).toBe('ended');
  });

  it('fails a run that breaks again and again without coming further, and says so each time', async () => {
    const broken: Model = {
      stream: () => {
        throw new TypeError('a bug');
      },
    };
    const { runner, store, reported } = house(broken);
    for (let times = 0; times < 12; times += 1) await runner.activate(id);

    expect(store.log(id).at(-1)).toMatchObject({ type: 'run.failed', data: { error: { code: 'no_progress' } } });
    expect(reported).toHaveLength(10);
  });

  it('fails a run whose holders die again and again, but charges nobody who leaves in order (R6)', async () => {
    const { runner, store, shown } = house(new ScriptedModel([says('Done.')]));
    for (let deaths = 0; deaths < 10; deaths += 1) {
      const claim = await store.claim(id, 'leaves');
      if (claim) await store.handOver(claim);
      await store.claim(id, 'dies');
      store.expireLease(id);
    }

    expect(await runner.activate(id)).toBe('ended');
    expect(shown).toMatchObject([{ type: 'run.failed', data: { error: { code: 'no_progress' } } }]);
  });
});

let now: ReturnType<typeof house>;
const leave = (held: ActiveRuns): void => held.all().forEach((run) => run.abandon(new AbandonedError('shutdown')));
