import type { NewFact, RunId } from '@rondo/contract';
import { RunChangedError } from '@rondo/domain';
import { StoreFixture, completed, iterationStarted, settings } from '../../testing/store-fixture';

let fixture: StoreFixture;
beforeAll(async () => {
  fixture = await StoreFixture.open();
});
afterAll(() => fixture.close());

const budget = { usd: 1, tokens: 1000, on_exceeded: 'wait' as const };
const waitsForBudget: NewFact = { type: 'run.waiting', iteration: 1, data: { reason: 'budget' } };
const endsForBudget: NewFact = {
  ...completed,
  data: { ...completed.data, finish_reason: 'budget_exceeded' },
} as NewFact; // of one type

const raise = (runId: RunId, to: { usd?: number; tokens?: number }) =>
  fixture.runs.raiseBudget({ accountId: fixture.accountId, runId, raisedBy: 'key_1', ...to });
const claimed = async () => fixture.claim((await fixture.create({ settings: { ...settings, budget } })).run.id);
const read = (runId: RunId) => fixture.runs.get({ accountId: fixture.accountId, runId });

describe('raising the budget of a run', () => {
  it('resumes a run that waits for it, once', async () => {
    const claim = await claimed();
    await fixture.store.append(claim, [iterationStarted(1), waitsForBudget]);
    expect(await read(claim.runId)).toMatchObject({ status: 'waiting_budget', waiting: { reason: 'budget' } });
    await fixture.published();

    const results = await Promise.all([raise(claim.runId, { usd: 3 }), raise(claim.runId, { usd: 3 })]);

    expect(results.flatMap(({ facts }) => facts).map(({ type }) => type)).toEqual(['budget.raised', 'run.resumed']);
    expect((await fixture.published()).filter(({ payload }) => payload.run_id === claim.runId)).toHaveLength(1);
    expect(await read(claim.runId)).toMatchObject({
      status: 'queued',
      waiting: null,
      settings: { budget: { usd: 3, tokens: 1000, on_exceeded: 'wait' } },
    });
    expect((await fixture.claim(claim.runId)).run.settings.budget.usd).toBe(3);
  });

  it('writes no time before that of the last fact, although the clock of its holder was ahead', async () => {
    const claim = await claimed();
    const at = new Date(Date.now() + 120_000).toISOString();
    const log = claim.log.map((fact) => ({ ...fact, at }));
    await fixture.store.append({ ...claim, log } as typeof claim, [iterationStarted(1), waitsForBudget]);

    const { facts } = await raise(claim.runId, { usd: 3 });

    expect(facts.map((fact) => fact.at)).toEqual([at, at]);
  });

  it.each([
    ['parked', waitsForBudget],
    ['ended', endsForBudget],
  ])('during a claim keeps the run from being %s for the old one', async (_, fact) => {
    const claim = await claimed();
    const { facts } = await raise(claim.runId, { tokens: 2000 });
    expect(facts).toMatchObject([{ type: 'budget.raised', data: { usd: 1, tokens: 2000, raised_by: 'key_1' } }]);

    await expect(fixture.store.append(claim, [fact])).rejects.toThrow(RunChangedError);
    await fixture.store.append(claim, [iterationStarted(1)]);

    await fixture.store.handOver(claim);
    const next = await fixture.claim(claim.runId);
    expect(next.run.settings.budget.tokens).toBe(2000);
    await fixture.store.append(next, [fact]);
    expect((await read(claim.runId)).status).toBe(fact.type === 'run.waiting' ? 'waiting_budget' : 'completed');
  });

  it('keeps the seq without a gap while the holder writes on', async () => {
    const claim = await claimed();
    await Promise.all([
      fixture.store.append(claim, [iterationStarted(1)]),
      raise(claim.runId, { usd: 2 }),
      fixture.store.append(claim, [iterationStarted(2)]),
    ]);
    expect(await fixture.runs.verify({ accountId: fixture.accountId, runId: claim.runId })).toMatchObject({
      contiguous: true,
      count: 5,
    });
  });

  it.each([
    ['lower than it is', { usd: 0.5 }, 'invalid_request'],
    ['equal, with another that is lower', { usd: 1, tokens: 5 }, 'invalid_request'],
  ])('refuses one that is %s', async (_, to, code) => {
    const claim = await claimed();
    await expect(raise(claim.runId, to)).rejects.toMatchObject({ code });
  });

  it('refuses a run that is over, and one of another account', async () => {
    const claim = await claimed();
    await fixture.store.append(claim, [completed]);
    await expect(raise(claim.runId, { usd: 3 })).rejects.toMatchObject({ code: 'run_over' });
    const order = { accountId: fixture.accountId.replace(/.$/, '_'), runId: claim.runId, raisedBy: 'key_1', usd: 3 };
    await expect(
      fixture.runs.raiseBudget({ ...order, accountId: order.accountId as typeof fixture.accountId }), // of no account
    ).rejects.toMatchObject({ code: 'run_not_found' });
  });
});
