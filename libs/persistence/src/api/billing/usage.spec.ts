import {
  type AccountId,
  type AgentId,
  type NewFact,
  type RunId,
  type UsageGroup,
  agentId,
  endUser,
} from '@rondo/contract';
import { StoreFixture, newAccount, nextId, usage } from '../../testing/store-fixture';
import { filteredUsage, UsageLedger } from './usage';

let fixture: StoreFixture;
let ledger: UsageLedger;
beforeAll(async () => {
  fixture = await StoreFixture.open();
  ledger = new UsageLedger(fixture.database);
});
afterAll(() => fixture.close());

const used = (input_tokens: number, cost_usd: number | null, model = 'demo/coder') =>
  usage({ model, input_tokens, cached_tokens: 1, output_tokens: 2, cost_usd, estimated: cost_usd === null });

const always = { from: new Date(0), to: new Date('2100-01-01') };
const all = (accountId: AccountId, groups: readonly UsageGroup[] = []) => ({
  ...always,
  accountId,
  groups,
  limit: 100,
});

/** Runs of a new account, each with its agent and what it used. */
async function accountWith(...runs: { agent?: AgentId; facts: NewFact[] }[]) {
  const accountId = await newAccount(fixture.database);
  const ids: RunId[] = [];
  for (const { agent, facts } of runs) {
    const { run } = await fixture.create({ accountId, agent: agent && { id: agent, version: 1, isNamed: true } });
    await fixture.store.append(await fixture.claim(run.id), facts);
    ids.push(run.id);
  }
  return { accountId, ids };
}

describe('the usage of an account', () => {
  it('equals what its runs say of themselves', async () => {
    const { accountId, ids } = await accountWith(
      { facts: [used(10, 0.1), used(20, 0.2)] },
      { facts: [used(40, 0.4)] },
      { facts: [used(80, 0.8), used(160, null)] },
    );

    for (const runId of ids) {
      const { usage } = await fixture.runs.get({ accountId, runId });
      const { total } = await ledger.report({ ...all(accountId), runId });
      expect(total).toMatchObject({
        input_tokens: usage.input_tokens,
        cached_tokens: usage.cached_tokens,
        output_tokens: usage.output_tokens,
      });
      expect(total.unpriced_calls > 0 ? null : total.cost_usd).toEqual(usage.cost_usd);
    }
    const { total } = await ledger.report(all(accountId));
    expect(total).toEqual({
      ...{ calls: 5, input_tokens: 310, cached_tokens: 5, output_tokens: 10, unpriced_calls: 1, estimated_calls: 1 },
      cost_usd: 1.5,
      charged_usd: 1.5,
    });
  });

  it('is grouped by day, model and agent', async () => {
    const agent = agentId.parse(`agt_${nextId()}`);
    const { accountId, ids } = await accountWith(
      { agent, facts: [used(1, 1), used(2, 1, 'demo/other')] },
      { facts: [used(4, 1)] },
    );
    const yesterday = `update usage_entries set created_at = '2026-01-02T23:59:59.999Z' where run_id = $1`;
    await fixture.database.sql.query(yesterday, [ids[0]]);
    await fixture.database.sql.query(yesterday.replace('02T23:59:59.999', '03T00:00:00'), [ids[1]]);

    const keysBy = async (...groups: UsageGroup[]) =>
      (await ledger.report(all(accountId, groups))).data.map(({ day, model, agent_id, input_tokens }) =>
        [day, model, agent_id, input_tokens].filter((value) => value !== undefined),
      );
    expect(await keysBy('day')).toEqual([
      ['2026-01-03', 4],
      ['2026-01-02', 3],
    ]);
    expect(await keysBy('model')).toEqual([
      ['demo/coder', 5],
      ['demo/other', 2],
    ]);
    expect(await keysBy('agent')).toEqual([
      [agent, 3],
      [null, 4],
    ]);
    expect(await keysBy('day', 'model', 'agent')).toHaveLength(3);
    const first = await ledger.report({ ...all(accountId, ['day']), limit: 1 });
    expect(first).toMatchObject({ data: [{ day: '2026-01-03' }], has_more: true, total: { calls: 3 } });
  });

  it('is filtered by agent, run, thread, model and time', async () => {
    const agent = agentId.parse(`agt_${nextId()}`);
    const { accountId, ids } = await accountWith(
      { agent, facts: [used(1, 1), used(2, 1, 'demo/other')] },
      { facts: [used(4, 1)] },
    );
    const [first, second] = ids.map((runId) => ({ runId }));
    const readInput = async (filter: object) =>
      (await ledger.report({ ...all(accountId), ...filter })).total.input_tokens;
    const thread = (await fixture.runs.get({ accountId, runId: second?.runId ?? ids[0] ?? failed() })).thread_id;

    expect(await readInput({ agentId: agent })).toBe(3);
    expect(await readInput({ ...first })).toBe(3);
    expect(await readInput({ threadId: thread })).toBe(4);
    expect(await readInput({ model: 'demo/other' })).toBe(2);
    expect(await readInput({ to: new Date(1) })).toBe(0);
    expect(await readInput({ from: new Date('2099-01-01') })).toBe(0);
  });

  it('is grouped and filtered by the user and the key of the run', async () => {
    const accountId = await newAccount(fixture.database);
    const begin = async (facts: readonly NewFact[], more: object) => {
      const { run } = await fixture.create({ accountId, ...more });
      await fixture.store.append(await fixture.claim(run.id), facts);
      return run;
    };
    const ann = endUser.parse('ann');
    const run = await begin([used(1, 1), used(2, 1)], { user: ann, createdBy: 'key_1' });
    await begin([used(4, 1)], {});

    const { data } = await ledger.report(all(accountId, ['user', 'key']));
    expect(data.map(({ user, key_id, input_tokens }) => [user, key_id, input_tokens])).toEqual([
      ['ann', 'key_1', 3],
      [null, null, 4],
    ]);
    expect((await ledger.report({ ...all(accountId), user: ann })).total.input_tokens).toBe(3);
    expect((await ledger.entries({ ...all(accountId), user: ann })).data).toHaveLength(2);
    await fixture.database.sql.query(`delete from runs where id = $1`, [run.id]);
    expect((await ledger.report({ ...all(accountId), user: ann })).total.calls).toBe(0);
  });

  it('has the thread and the agent of entries that were written without them', async () => {
    const agent = agentId.parse(`agt_${nextId()}`);
    const { accountId, ids } = await accountWith({ agent, facts: [used(1, 1)] });
    await fixture.database.sql.query(`update usage_entries set thread_id = null, agent_id = null where run_id = $1`, [
      ids[0],
    ]);

    const [entry] = (await ledger.entries({ ...all(accountId), agentId: agent })).data;

    expect(entry).toMatchObject({ run_id: ids[0], agent_id: agent, thread_id: expect.stringMatching(/^thr_/) });
  });

  it('is listed entry by entry, newest first, each once', async () => {
    const { accountId } = await accountWith({ facts: [1, 2, 3, 4, 5].map((tokens) => used(tokens, 1)) });
    const seen: number[] = [];
    let after: string | undefined;
    do {
      const page = await ledger.entries({ ...all(accountId), limit: 2, after });
      seen.push(...page.data.map(({ input_tokens }) => input_tokens));
      after = page.next_cursor ?? undefined;
    } while (after !== undefined);
    expect(seen).toEqual([5, 4, 3, 2, 1]);
    const other = await newAccount(fixture.database);
    const cursor = Buffer.from(`mdl_${nextId()}`).toString('base64url');
    await expect(ledger.entries({ ...all(other), after: cursor })).rejects.toMatchObject({ code: 'invalid_cursor' });
    expect((await ledger.report(all(other))).total).toMatchObject({ calls: 0, cost_usd: null });
  });

  it('is found by an index, whatever the ledger holds', async () => {
    const plan = await fixture.explain(
      filteredUsage,
      `'acc_1', '2026-01-01', '2026-02-01', null, null, null, null, null`,
    );
    expect(plan).toMatch(/Index Scan using usage_entries_account_id_created_at_idx/);
    expect(plan).not.toContain('Seq Scan');
  });
});

const failed = (): never => {
  throw new Error('no run was made');
};
