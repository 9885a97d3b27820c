import { type RunEvent, type SettingsRequest, eventId, runId, threadId } from '@rondo/contract';
import {
  ClaimLostError,
  type Model,
  TerminalError,
  type ToolAnswer,
  budgetOfModel,
  effectiveSettings,
  toToolSet,
  tools as catalog,
} from '@rondo/domain';
import {
  CountingIds,
  TickingClock,
  EvenTokenCounter,
  InMemoryRunStore,
  LedgeredTools,
  ScriptedModel,
  breaksAfter,
  calls,
  says,
} from '@rondo/domain/testing';
import { AbandonedError, ActiveRuns } from '@rondo/run-holder';
import { AgentRunner } from './agent-runner';
import type { ActiveTools, AgentRunnerParts } from './agent-runner-parts';

const id = runId.parse('run_1');
const command = { name: 'execute_command', arguments: { command: 'make', blocking: true } };
const stop = { requestedAt: '2026-01-01T00:00:00.000Z', reason: null };

function fixture(
  model: Model,
  tools: Partial<ActiveTools> = {},
  parts: Partial<AgentRunnerParts> = {},
  settings: SettingsRequest = {},
) {
  const store = new InMemoryRunStore();
  const effective = effectiveSettings(settings, { model: 'demo/coder' });
  if ('problems' in effective) throw new Error('the defaults are valid');
  store.create({ id, threadId: threadId.parse('thr_1'), settings: effective.settings, input: 'Go.' });

  const activeRuns = new ActiveRuns();
  const published: RunEvent[] = [];
  const ledgered = new LedgeredTools();
  const reported: unknown[] = [];
  const queued: RunEvent[][] = [];
  const workerParts: AgentRunnerParts = {
    owner: 'worker',
    store,
    feed: { publish: (events) => published.push(...events) },
    modelFor: () => model,
    tokens: new EvenTokenCounter(),
    resolveBudget: budgetOfModel,
    toolSetFor: (claim) => Promise.resolve(toToolSet(claim.run.settings, catalog)),
    toolsFor: () => ({
      store: ledgered.store,
      execute: (call, signal) => ledgered.execute(call, signal),
      reattach: (call, signal) => ledgered.reattach(call, signal),
      endRun: () => ledgered.endRun(),
      close: () => undefined,
      ...tools,
    }),
    ids: new CountingIds(),
    clock: new TickingClock(),
    activeRuns,
    onError: (details) => reported.push(details),
    isOutage: () => false,
    publishJobs: () => Promise.resolve(void queued.push([...published])),
    journal: { frameMs: 5, newEventId: () => eventId.parse('evt_1'), now: () => new Date(0).toISOString() },
    ...parts,
  };
  const restart = (holder = new ActiveRuns()) => ({
    runner: new AgentRunner({ ...workerParts, activeRuns: holder }),
    activeRuns: holder,
  });
  return { store, published, tools: ledgered, reported, queued, restart, ...restart(activeRuns) };
}

/** A model that streams one delta and then hangs until it is aborted. */
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

/** Tools whose calls end only when they are closed. */
function hangingTools(onHanging: () => void): Partial<ActiveTools> {
  let rejectCall: (reason: Error) => void = () => undefined;
  const execute = () =>
    new Promise<ToolAnswer>((_, reject) => {
      rejectCall = reject;
      onHanging();
    });
  return { execute, reattach: execute, close: (reason) => rejectCall(reason) };
}

describe('AgentRunner', () => {
  it('runs a run to its end and publishes every fact after its commit, in order', async () => {
    const { runner, store, published } = fixture(new ScriptedModel([calls(command), says('Done.')]));

    expect(await runner.activate(id)).toBe('ended');

    const facts = published.filter(({ seq }) => seq !== null);
    expect(facts).toEqual(store.log(id).slice(2));
    expect(await runner.activate(id)).toBe('not due');
  });

  it('goes on from the log when the budget was raised while it worked', async () => {
    const budget = { tokens: 30_000, on_exceeded: 'wait' as const };
    const expensive = calls(command).map((chunk) =>
      chunk.type === 'end' && chunk.usage ? { ...chunk, usage: { ...chunk.usage, input_tokens: 40_000 } } : chunk,
    );
    const model = new ScriptedModel([expensive, says('Done.')]);
    const raised = fixture(model, { execute: () => raiseAndAnswer() }, {}, { budget, tools: [command.name] });
    const raiseAndAnswer = (): Promise<ToolAnswer> => {
      raised.store.raiseBudget(id, { tokens: 100_000 });
      return Promise.resolve({ how: 'answered', result: { success: true, output: 'made' }, durationMs: 1 });
    };

    expect(await raised.runner.activate(id)).toBe('ended');

    const types = raised.store.log(id).map(({ type }) => type);
    expect(types).not.toContain('run.waiting');
    expect(types.filter((type) => type === 'usage.recorded')).toHaveLength(2);
    expect(raised.store.status(id)).toBe('completed');
  });

  it('publishes the deltas of a message before the fact that supersedes them', async () => {
    const { runner, published } = fixture(new ScriptedModel([says('One two')]));

    await runner.activate(id);

    const types = published.map(({ type }) => type);
    expect(types.lastIndexOf('message.delta')).toBeLessThan(types.indexOf('message.created'));
  });

  it('fails a run at max_duration_s even while the model hangs', async () => {
    const clock = { now: () => new Date().toISOString() };
    const { runner, store } = fixture(
      hangingModel(() => undefined),
      {},
      { clock },
      { limits: { max_duration_s: 1 } },
    );

    expect(await runner.activate(id)).toBe('ended');

    expect(store.log(id).at(-1)).toMatchObject({
      type: 'run.failed',
      data: { error: { code: 'max_duration_exceeded' } },
    });
    expect(JSON.stringify(store.log(id))).toContain('Well');
  });

  it('publishes the job of a run that waits for a summary', async () => {
    const compactify = { name: 'compactify_memory', arguments: {} };
    const { runner, queued } = fixture(new ScriptedModel([calls(command), calls(compactify)]));

    expect(await runner.activate(id)).toBe('parked');

    expect(queued.map((published) => published.at(-1)?.type)).toEqual(['context.compaction_started']);
  });

  it.each([
    ['the model streams', () => fixture(hangingModel(() => queueMicrotask(() => leave(now.activeRuns))))],
    [
      'a tool runs',
      () =>
        fixture(
          new ScriptedModel([calls(command)]),
          hangingTools(() => queueMicrotask(() => leave(now.activeRuns))),
        ),
    ],
    [
      'images are fetched',
      () =>
        fixture(
          new ScriptedModel([]),
          {},
          {
            prepared: (claim, signal) =>
              new Promise((resolve) => {
                signal.addEventListener('abort', () => resolve(claim));
                queueMicrotask(() => leave(now.activeRuns));
              }),
          },
        ),
    ],
  ])('hands over at once while %s, and another worker can claim the run', async (_, build) => {
    now = build();

    expect(await now.runner.activate(id)).toBe('handed over');

    expect(now.activeRuns.size).toBe(0);
    expect(await now.store.claim(id, 'other')).toBeDefined();
  });

  it.each([
    ['breaks off', () => breaksAfter('Half a sen')],
    [
      'fails',
      () => [{ type: 'end', how: 'failed', error: { code: 'connection_error', message: 'Refused.' } } as const],
    ],
  ])('leaves a reply that %s while the worker shuts down to the next one, however often', async (_, lostReply) => {
    const shutDowns = 4;
    const turns = [...Array.from({ length: shutDowns }, lostReply), says('Whole.')];
    const built = fixture({
      async *stream(request, signal) {
        if (turns.length > 1) worker.activeRuns.drain();
        yield* new ScriptedModel(turns.splice(0, 1)).stream(request, signal);
      },
    });
    let worker = built.restart();

    for (let times = 0; times < shutDowns; times += 1, worker = built.restart())
      expect(await worker.runner.activate(id)).toBe('handed over');

    expect(await worker.runner.activate(id)).toBe('ended');
    expect(built.store.status(id)).toBe('completed');
  });

  it('stops a run while images are fetched, without a model call', async () => {
    const { runner, store, activeRuns } = fixture(
      new ScriptedModel([]),
      {},
      {
        prepared: (claim, signal) =>
          new Promise((resolve) => {
            signal.addEventListener('abort', () => resolve(claim));
            queueMicrotask(() => activeRuns.find(id)?.stop(stop));
          }),
      },
    );

    expect(await runner.activate(id)).toBe('ended');
    expect(store.log(id).map(({ type }) => type)).not.toContain('iteration.started');
    expect(store.status(id)).toBe('stopped');
  });

  it('writes nothing more after another worker has claimed the run (I3)', async () => {
    const claimIsLost = () => activeRuns.find(id)?.abandon(new ClaimLostError(id));
    const onceItsStartIsWritten = () => setImmediate(() => setImmediate(claimIsLost));
    const { runner, store, activeRuns } = fixture(hangingModel(onceItsStartIsWritten));

    expect(await runner.activate(id)).toBe('claim lost');
    expect(store.status(id)).toBe('running');
  });

  it('keeps the result of a tool when the next model call fails terminally', async () => {
    const callsOnce = new ScriptedModel([calls(command)]);
    const { runner, store } = fixture({
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

  it('stops the run when the stop was committed before its completion (I7)', async () => {
    const built = fixture({
      async *stream(request, signal) {
        built.store.requestStop(id, stop);
        yield* new ScriptedModel([says('Done.')]).stream(request, signal);
      },
    });

    expect(await built.runner.activate(id)).toBe('ended');

    expect(built.store.log(id).map(({ type }) => type)).toEqual(expect.arrayContaining(['usage.recorded']));
    expect(JSON.stringify(built.store.log(id))).toContain('Done.');
    expect(built.store.status(id)).toBe('stopped');
    expect(built.activeRuns.size).toBe(0);
    expect(built.queued).toEqual([]);
  });

  it('stops a run whose stop was requested while it was being failed (I7)', async () => {
    const { runner, store } = fixture({
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

  it('removes a run from the active ones before it publishes jobs, since Redis may not answer', async () => {
    let activeThen: number | undefined;
    const jobsPublished = new Promise<void>((resolve) => {
      const built = fixture(
        hangingModel(() => queueMicrotask(() => leave(built.activeRuns))),
        {},
        {
          publishJobs: () => {
            activeThen = built.activeRuns.size;
            resolve();
            return new Promise(() => undefined);
          },
        },
      );
      void built.runner.activate(id);
    });

    await jobsPublished;

    expect(activeThen).toBe(0);
  });

  it('delays the handover during a database outage, without a fruitless claim', async () => {
    const full = new Error('disk full');
    const { runner, store, reported } = fixture(
      new ScriptedModel([says('Done.')]),
      {},
      { isOutage: (error) => error === full },
    );
    jest.spyOn(store, 'append').mockRejectedValueOnce(full);
    const began = performance.now();

    expect(await runner.activate(id)).toBe('handed over');

    expect(performance.now() - began).toBeGreaterThan(200);
    expect(reported).toEqual([]);
    expect(await runner.activate(id)).toBe('ended');
  });

  it('fails a run after 10 broken activations without progress, and reports each', async () => {
    const broken: Model = {
      stream: () => {
        throw new TypeError('a bug');
      },
    };
    const { runner, store, reported } = fixture(broken);
    for (let times = 0; times < 12; times += 1) await runner.activate(id);

    expect(store.log(id).at(-1)).toMatchObject({ type: 'run.failed', data: { error: { code: 'no_progress' } } });
    expect(reported).toHaveLength(10);
  });

  it('fails a run after 10 holders died without progress, and does not count orderly handovers', async () => {
    const { runner, store, published } = fixture(new ScriptedModel([says('Done.')]));
    for (let deaths = 0; deaths < 10; deaths += 1) {
      const claim = await store.claim(id, 'leaves');
      if (claim) await store.handOver(claim);
      await store.claim(id, 'dies');
      store.expireLease(id);
    }

    expect(await runner.activate(id)).toBe('ended');
    expect(published).toMatchObject([{ type: 'run.failed', data: { error: { code: 'no_progress' } } }]);
  });
});

let now: ReturnType<typeof fixture>;
const leave = (activeRuns: ActiveRuns): void => activeRuns.abandonAll(new AbandonedError('shutdown'));
