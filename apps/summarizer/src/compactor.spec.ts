import { type NewFact, compactionId, messageId, runId, threadId } from '@rondo/contract';
import { type ClaimedRun, type ModelRequest, budgetOfModel, effectiveSettings } from '@rondo/domain';
import {
  CountingIdsAndClock,
  EvenTokenCounter,
  InMemoryRunStore,
  ScriptedModel,
  type Turn,
  says,
} from '@rondo/domain/testing';
import { Compactor } from './compactor';
import { ActiveCompactions } from './active-compactions';

const id = runId.parse('run_1');
const secret = 'The vault opens with 4711. '.repeat(200);

/** A run whose worker asked for a summary of its only message, and left. */
async function house(...turns: readonly Turn[]) {
  const effective = effectiveSettings({}, { model: 'demo/coder' });
  if ('problems' in effective) throw new Error('the settings are valid');
  const store = new InMemoryRunStore();
  store.create({ id, threadId: threadId.parse('thr_1'), settings: effective.settings, input: secret });
  await leaveForSummary(store);

  const requests: ModelRequest[] = [];
  const script = new ScriptedModel(turns);
  const told: string[] = [];
  const held = new ActiveCompactions('scribe', {
    renew: () => Promise.resolve({ lost: [], stops: [] }),
    reap: () => Promise.resolve(0),
  });
  const compactor = new Compactor({
    owner: 'scribe',
    store: store.compactions,
    feed: { publish: (facts) => told.push(...facts.map(({ type }) => type)) },
    held,
    ports: {
      model: { stream: (request, signal) => (requests.push(request), script.stream(request, signal)) },
      tokens: new EvenTokenCounter(),
      budgetOf: budgetOfModel,
      clerk: new CountingIdsAndClock(),
    },
    summaryModel: 'demo/summary',
    moved: () => Promise.resolve(),
  });
  return { store, compactor, held, requests, told };
}

async function leaveForSummary(store: InMemoryRunStore): Promise<void> {
  const worker = (await store.claim(id, 'worker')) as ClaimedRun; // nobody holds it
  const first = messageId.parse(
    worker.log.flatMap((fact) => (fact.type === 'message.created' ? fact.data.message.id : []))[0],
  );
  const asked: NewFact = {
    type: 'context.compaction_started',
    iteration: 0,
    data: {
      compaction_id: compactionId.parse('cmp_1'),
      reason: 'threshold',
      covers: { from_message_id: first, to_message_id: first },
      tokens_before: 5_000,
    },
  };
  await store.append(worker, [asked]);
}

describe('Compactor', () => {
  it('folds the history with the model for summaries, and gives the run back to the workers', async () => {
    const { store, compactor, requests, told } = await house(says('The code is 4711.'));

    expect(await compactor.compact(id)).toBe('folded');

    expect(requests).toMatchObject([{ model: 'demo/summary' }]);
    expect(JSON.stringify(requests)).toContain('The vault opens with 4711.');
    expect(told).toEqual(['usage.recorded', 'message.created', 'context.compacted']);
    expect(await store.claim(id, 'worker')).toBeDefined();
  });

  it('finds nothing to do where the run is with the workers', async () => {
    const { compactor } = await house(says('Short.'));
    await compactor.compact(id);

    expect(await compactor.compact(id)).toBe('not due');
  });

  it('goes without a summary where the model gives none, and the run goes on (R36)', async () => {
    const { store, compactor } = await house(says(''), says(''));

    expect(await compactor.compact(id)).toBe('given up');

    expect(store.log(id).at(-1)).toMatchObject({
      type: 'context.compaction_failed',
      data: { error: { code: 'summary_empty' } },
    });
    expect(await store.claim(id, 'worker')).toBeDefined();
  });

  it('lets go of a run that was told to stop, without asking the model (I7)', async () => {
    const { store, compactor, requests } = await house(says('Too late.'));
    store.requestStop(id, { requestedAt: '2026-01-01T00:00:00.000Z', reason: null });

    expect(await compactor.compact(id)).toBe('given up');
    expect(requests).toEqual([]);
  });

  it('leaves a run to another summarizer when this one goes, and nothing is charged for it (R6)', async () => {
    const { store, compactor, held } = await house(says('Never read.'));
    held.leaveAll();

    expect(await compactor.compact(id)).toBe('handed over');
    expect(await store.compactions.claim(id, 'another')).toMatchObject({ fruitlessClaims: 0 });
  });

  it('writes nothing where the claim was lost to another (I3)', async () => {
    const { store, compactor, told } = await house(says('The code is 4711.'));
    const stream = store.compactions.append;
    Object.assign(store.compactions, {
      append: async (...given: Parameters<typeof stream>) => {
        store.expireLease(id);
        await store.compactions.claim(id, 'another');
        return stream(...given);
      },
    });

    expect(await compactor.compact(id)).toBe('claim lost');
    expect(told).toEqual([]);
  });

  it('does without a summary after three summarizers died of it', async () => {
    const { store, compactor, requests } = await house(says('Short.'));
    for (let deaths = 0; deaths < 3; deaths += 1) {
      await store.compactions.claim(id, 'dies');
      store.expireLease(id);
    }

    expect(await compactor.compact(id)).toBe('given up');
    expect(requests).toEqual([]);
    expect(store.log(id).at(-1)).toMatchObject({ data: { error: { code: 'no_progress' } } });
  });
});
