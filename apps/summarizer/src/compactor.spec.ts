import { type NewFact, compactionId, messageId, runId, threadId } from '@rondo/contract';
import { type ClaimedRun, type ModelRequest, budgetOfModel, builtInTools, effectiveSettings } from '@rondo/domain';
import {
  CountingIds,
  TickingClock,
  EvenTokenCounter,
  InMemoryRunStore,
  ScriptedModel,
  type Turn,
  says,
} from '@rondo/domain/testing';
import { Compactor } from './compactor';
import { ActiveRuns } from '@rondo/run-holder';

const id = runId.parse('run_1');
const outage = new Error('the database is away');
const secret = 'The vault opens with 4711. '.repeat(200);

/** A run that waits for a summary of its only message. */
async function fixture(...turns: readonly Turn[]) {
  const effective = effectiveSettings({}, { model: 'demo/coder' });
  if ('problems' in effective) throw new Error('the settings are valid');
  const store = new InMemoryRunStore();
  store.create({ id, threadId: threadId.parse('thr_1'), settings: effective.settings, input: secret });
  await startCompaction(store);

  const requests: ModelRequest[] = [];
  const script = new ScriptedModel(turns);
  const published: string[] = [];
  const activeRuns = new ActiveRuns();
  const compactor = new Compactor({
    owner: 'summarizer',
    store: store.compactions,
    feed: { publish: (facts) => published.push(...facts.map(({ type }) => type)) },
    activeRuns,
    toolSetFor: () => Promise.resolve(builtInTools),
    ports: {
      model: { stream: (request, signal) => (requests.push(request), script.stream(request, signal)) },
      tokens: new EvenTokenCounter(),
      resolveBudget: budgetOfModel,
      ids: new CountingIds(),
      clock: new TickingClock(),
    },
    summaryModel: 'demo/summary',
    isOutage: (error) => error === outage,
    publishJobs: () => Promise.resolve(),
  });
  return { store, compactor, activeRuns, requests, published };
}

async function startCompaction(store: InMemoryRunStore): Promise<void> {
  const worker = (await store.claim(id, 'worker')) as ClaimedRun; // it is due
  const first = messageId.parse(
    worker.log.flatMap((fact) => (fact.type === 'message.created' ? fact.data.message.id : []))[0],
  );
  const started: NewFact = {
    type: 'context.compaction_started',
    iteration: 0,
    data: {
      compaction_id: compactionId.parse('cmp_1'),
      reason: 'threshold',
      covers: { from_message_id: first, to_message_id: first },
      tokens_before: 5_000,
    },
  };
  await store.append(worker, [started]);
}

describe('Compactor', () => {
  it('writes a summary with the summary model, and moves the run back to the queue of the workers', async () => {
    const { store, compactor, requests, published } = await fixture(says('The code is 4711.'));

    expect(await compactor.compact(id)).toBe('summarized');

    expect(requests).toMatchObject([{ model: 'demo/summary', account: 'acc_1' }]);
    expect(JSON.stringify(requests)).toContain('The vault opens with 4711.');
    expect(published).toEqual(['usage.recorded', 'message.created', 'context.compacted']);
    expect(await store.claim(id, 'worker')).toBeDefined();
  });

  it('does nothing when the run is in the queue of the workers', async () => {
    const { compactor } = await fixture(says('Short.'));
    await compactor.compact(id);

    expect(await compactor.compact(id)).toBe('not due');
  });

  it('fails the compaction when the model writes no summary, and the run continues', async () => {
    const { store, compactor } = await fixture(says(''), says(''));

    expect(await compactor.compact(id)).toBe('no summary');

    expect(store.log(id).at(-1)).toMatchObject({
      type: 'context.compaction_failed',
      data: { error: { code: 'summary_empty' } },
    });
    expect(await store.claim(id, 'worker')).toBeDefined();
  });

  it('fails the compaction without a model call when a stop was requested (I7)', async () => {
    const { store, compactor, requests } = await fixture(says('Too late.'));
    store.requestStop(id, { requestedAt: '2026-01-01T00:00:00.000Z', reason: null });

    expect(await compactor.compact(id)).toBe('no summary');
    expect(requests).toEqual([]);
  });

  it('hands its run over at a shutdown, without a fruitless claim', async () => {
    const { store, compactor, activeRuns } = await fixture(says('Never read.'));
    activeRuns.drain();

    expect(await compactor.compact(id)).toBe('handed over');
    expect(await store.compactions.claim(id, 'another')).toMatchObject({ fruitlessClaims: 0 });
  });

  it('hands its run over once the database is back that was away when the summary was written, without a fruitless claim', async () => {
    const { store, compactor } = await fixture(says('Never stored.'));
    const release = store.compactions.handOver.bind(store.compactions);
    const away = () => Promise.reject(outage);
    let handOvers = 0;
    Object.assign(store.compactions, {
      append: away,
      handOver: (...given: Parameters<typeof release>) => ((handOvers += 1) === 1 ? away() : release(...given)),
    });

    expect(await compactor.compact(id)).toBe('handed over');
    expect(handOvers).toBe(2);
    expect(await store.compactions.claim(id, 'another')).toMatchObject({ fruitlessClaims: 0 });
  });

  it('holds its run for a moment before it hands it over in an outage, until it shuts down', async () => {
    const { store, compactor, activeRuns } = await fixture(says('Never stored.'));
    let failed = (): void => undefined;
    const hasFailed = new Promise<void>((resolve) => (failed = resolve));
    Object.assign(store.compactions, { append: () => (failed(), Promise.reject(outage)) });

    const compacted = compactor.compact(id);
    await hasFailed;
    await new Promise(setImmediate);
    expect(activeRuns.size).toBe(1); // so that its lease is renewed
    activeRuns.drain();

    expect(await compacted).toBe('handed over');
    expect(activeRuns.size).toBe(0);
  });

  it('counts an attempt that broke', async () => {
    const { store, compactor } = await fixture(says('Never stored.'));
    const broken = new Error('a bug');
    Object.assign(store.compactions, { append: () => Promise.reject(broken) });

    await expect(compactor.compact(id)).rejects.toBe(broken);
    expect(await store.compactions.claim(id, 'another')).toMatchObject({ fruitlessClaims: 1 });
  });

  it('writes nothing after its claim was lost (I3)', async () => {
    const { store, compactor, published } = await fixture(says('The code is 4711.'));
    const append = store.compactions.append;
    Object.assign(store.compactions, {
      append: async (...given: Parameters<typeof append>) => {
        store.expireLease(id);
        await store.compactions.claim(id, 'another');
        return append(...given);
      },
    });

    expect(await compactor.compact(id)).toBe('claim lost');
    expect(published).toEqual([]);
  });

  it('fails the compaction after three summarizers died during it', async () => {
    const { store, compactor, requests } = await fixture(says('Short.'));
    for (let deaths = 0; deaths < 3; deaths += 1) {
      await store.compactions.claim(id, 'dies');
      store.expireLease(id);
    }

    expect(await compactor.compact(id)).toBe('no summary');
    expect(requests).toEqual([]);
    expect(store.log(id).at(-1)).toMatchObject({ data: { error: { code: 'no_progress' } } });
  });
});
