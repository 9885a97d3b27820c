import { type Agent, type RunId, type ToolCall, toChildRunId, noUsage } from '@rondo/contract';
import { type ClaimedRun, ClaimLostError } from '@rondo/domain';
import {
  StoreFixture,
  completed,
  iterationStarted,
  nextId,
  planned,
  reply,
  settings,
  usage,
  stopped,
  sent,
} from '../../../testing/store-fixture';
import { StoredSettings } from '../../account-settings';
import { Agents } from '../../agents/agents';
import type { ChildOrder } from './start-child';
import { RunTrees } from './run-trees';

let fixture: StoreFixture;
let trees: RunTrees;
let agent: Agent;
beforeAll(async () => {
  fixture = await StoreFixture.open();
  trees = new RunTrees(fixture.database, nextId);
  const definition = { name: 'helper', system_prompt: 'Help.' };
  agent = await new Agents(fixture.database, nextId).create({
    accountId: fixture.accountId,
    definition,
    isDefault: false,
  });
});
afterAll(() => fixture.close());

const read = (runId: RunId) => fixture.runs.get({ accountId: fixture.accountId, runId });
const readTypes = async (runId: RunId) => {
  const { data } = await fixture.runs.events({ accountId: fixture.accountId, runId }, { after: 0, limit: 100 });
  return data.map(({ type }) => type);
};

interface Parent {
  readonly claim: ClaimedRun;
  readonly calls: readonly ToolCall[];
}

/** A held run with calls of `run_agent` that were started. */
async function readParent(
  count: number,
  given: { limits?: object; budget?: object; input?: object } = {},
): Promise<Parent> {
  const own = { ...settings, limits: { ...settings.limits, ...given.limits }, budget: { ...given.budget } };
  const claim = await fixture.claim((await fixture.create({ settings: own })).run.id);
  return { claim, calls: await withCalls(claim, count, given.input) };
}

async function withCalls(claim: ClaimedRun, count: number, input: object = {}): Promise<readonly ToolCall[]> {
  const facts = Array.from({ length: count }, (_, index) =>
    planned(claim, { name: 'run_agent', input: { agent: 'helper', input: 'Go.', ...input }, index }),
  );
  const calls = facts.map(({ data }) => data.tool_call);
  await fixture.store.append(claim, [iterationStarted(1), ...facts, ...facts.map(sent)]);
  return calls;
}

const createOrder = ({ claim }: Pick<Parent, 'claim'>, call: ToolCall, named = 'helper'): ChildOrder => ({
  parent: claim,
  call,
  agent: named,
  input: 'Do your part.',
  toSettings: () => ({ settings }),
});
const createCall = ({ calls }: Pick<Parent, 'calls'>, index = 0): ToolCall => {
  const call = calls[index];
  if (!call) throw new Error('the run has fewer calls');
  return call;
};
const createChild = (parent: Pick<Parent, 'calls'>, index = 0): RunId => toChildRunId(createCall(parent, index).id);
const start = (parent: Parent, index = 0) => trees.start(createOrder(parent, createCall(parent, index)));

/** Parks the parent for the children of its calls. */
async function park({ claim, calls }: Parent): Promise<void> {
  const child_runs = calls.map(({ id }) => ({
    run_id: toChildRunId(id),
    tool_call_id: id,
    agent_id: agent.id,
    agent_name: 'helper',
  }));
  await fixture.store.append(claim, [
    { type: 'run.waiting', iteration: 1, data: { reason: 'child_runs', child_runs } },
  ]);
}

async function finish(id: RunId, text: string): Promise<void> {
  const claim = await fixture.claim(id);
  await fixture.store.append(claim, [iterationStarted(1), reply(claim, text), completed]);
}

describe('a call of run_agent', () => {
  it('is told what the account keeps for its runs', async () => {
    const parent = await readParent(1);
    const kept = { limits: { max_iterations: 7 } };
    await new StoredSettings(fixture.database).write(fixture.accountId, kept);
    const toSettings = jest.fn(() => ({ settings }));

    await trees.start({ ...createOrder(parent, createCall(parent)), toSettings });

    expect(toSettings).toHaveBeenCalledWith(expect.objectContaining({ account: kept }));
  });

  it('starts one run, however often and by how many it is asked, and names its origin', async () => {
    const parent = await readParent(1);
    const all = await Promise.all([start(parent), start(parent), start(parent)]);
    const again = await start(parent);

    const id = createChild(parent);
    expect([...all, again]).toEqual(
      Array.from({ length: 4 }, () =>
        expect.objectContaining({ how: 'started', child: expect.objectContaining({ run_id: id }) }),
      ),
    );
    const origin = {
      parent_run_id: parent.claim.runId,
      parent_call_id: createCall(parent).id,
      root_run_id: parent.claim.runId,
    };
    expect(await read(id)).toMatchObject({ ...origin, agent_id: agent.id, agent_version: 1, status: 'queued' });
    const { data } = await fixture.runs.list({
      accountId: fixture.accountId,
      parentRunId: parent.claim.runId,
      limit: 10,
    });
    expect(data.map((run) => run.id)).toEqual([id]);
    const jobs = (await fixture.published()).filter(({ payload }) => payload.run_id === id);
    expect(jobs).toHaveLength(1);
    const { data: facts } = await fixture.runs.events(
      { accountId: fixture.accountId, runId: id },
      { after: 0, limit: 9 },
    );
    expect(facts[0]).toMatchObject({ type: 'run.created', data: origin });
  });

  it('is refused for an agent that does not exist, and told which do', async () => {
    const parent = await readParent(1);

    const outcome = await trees.start(createOrder(parent, createCall(parent), 'missing'));

    expect(outcome).toEqual({ how: 'refused', reason: 'There is no agent "missing". Agents: "helper".' });
  });

  it.each([
    ['nested too deep', { max_run_depth: 0 }, 'at that depth'],
    ['too many in the tree', { max_tree_runs: 1 }, 'may start 1 others'],
    ['too many at a time', { max_active_children: 1 }, '1 other runs at work'],
  ])('is refused where runs would be %s', async (_, limits, words) => {
    const parent = await readParent(2, { limits });
    const outcomes = await Promise.all([start(parent, 0), start(parent, 1)]);

    const refused = outcomes.filter(({ how }) => how === 'refused');
    expect(refused).toHaveLength('max_run_depth' in limits ? 2 : 1);
    expect(JSON.stringify(refused)).toContain(words);
  });

  it('starts nothing for a worker that lost its claim (I3)', async () => {
    const parent = await readParent(1);
    await fixture.store.handOver(parent.claim);
    await fixture.claim(parent.claim.runId, 'worker-2');

    await expect(start(parent)).rejects.toThrow(ClaimLostError);
  });

  it('starts nothing once a stop was requested, and whatever it started before is stopped (I7)', async () => {
    const parent = await readParent(8);
    const { accountId } = fixture;
    const order = { accountId, runId: parent.claim.runId, reason: 'enough' };
    const [stopped, ...outcomes] = await Promise.all([
      fixture.runs.requestStop(order),
      ...parent.calls.map((_, index) => start(parent, index)),
    ]);

    expect(stopped.run.status).toBe('stopping');
    const ids = outcomes.flatMap((outcome) => (outcome.how === 'started' ? [outcome.child.run_id] : []));
    await trees.catchUp(); // a stop that came while the run was being made reaches it at the latest here
    for (const id of ids) expect((await read(id)).stop_requested_at).not.toBeNull();
    expect(await start(parent, 0)).toMatchObject({ how: ids.length > 0 ? expect.any(String) : 'refused' });
  });
});

describe('a run that waits for its children', () => {
  it('gets each result once, however many processes notice the end, and goes on after the last', async () => {
    const parent = await readParent(2);
    await start(parent, 0);
    await start(parent, 1);
    await park(parent);
    const { runId } = parent.claim;
    expect((await fixture.runs.why({ accountId: fixture.accountId, runId })).sentence).toContain(
      `Waits for run ${createChild(parent)} (helper, queued), `,
    );

    await finish(createChild(parent, 1), 'The second.');
    await Promise.all([trees.collect(runId), trees.collect(runId), trees.catchUp()]);
    expect(await read(runId)).toMatchObject({
      status: 'waiting_child',
      waiting: { child_runs: [{ tool_call_id: createCall(parent).id }] },
    });

    await finish(createChild(parent), 'The first.');
    await Promise.all([trees.collect(runId), trees.catchUp(), trees.collect(runId)]);

    expect(await read(runId)).toMatchObject({ status: 'queued', waiting: null });
    const types = await readTypes(runId);
    expect(types.filter((type) => type === 'tool.completed')).toHaveLength(2);
    expect(types.filter((type) => type === 'run.resumed')).toHaveLength(1);
    const { data } = await fixture.runs.toolCalls({ accountId: fixture.accountId, runId }, { limit: 10 });
    expect(data.map(({ result }) => result?.output)).toEqual(['The first.', 'The second.']);
    const jobs = (await fixture.published()).filter(({ payload }) => payload.run_id === runId);
    expect(jobs.length).toBeGreaterThan(0);
  });

  it('is not in the inbox of people', async () => {
    const parent = await readParent(1);
    await start(parent);
    await park(parent);

    const { data } = await fixture.runs.inbox({ accountId: fixture.accountId, limit: 200 });

    expect(data.map(({ id }) => id)).not.toContain(parent.claim.runId);
  });

  it('is told of a child that was stopped, and of one that was deleted', async () => {
    const parent = await readParent(2);
    await start(parent, 0);
    await start(parent, 1);
    await park(parent);
    const [ended, deleted] = parent.calls.map(({ id }) => toChildRunId(id)) as [RunId, RunId];
    await fixture.runs.requestStop({ accountId: fixture.accountId, runId: ended, reason: 'not needed' });
    const run = await fixture.claim(ended).catch(() => undefined);
    if (run) await fixture.store.append(run, [stopped('not needed')]);
    await fixture.database.sql.query('delete from runs where id = $1', [deleted]);

    await trees.catchUp();

    const { data } = await fixture.runs.toolCalls(
      { accountId: fixture.accountId, runId: parent.claim.runId },
      { limit: 5 },
    );
    expect(data.map(({ result }) => result?.error)).toEqual([
      `${ended} was stopped: not needed`,
      `${deleted} was deleted with its thread before its result was read.`,
    ]);
  });

  it('takes its children along when it is stopped, and then needs a worker for its receipt (I7)', async () => {
    const parent = await readParent(1);
    await start(parent);
    await park(parent);
    const id = createChild(parent);
    const grandchild = await fixture.claim(id);
    const inner = { claim: grandchild, calls: await withCalls(grandchild, 1) };
    await start(inner);

    const { run, stops } = await fixture.runs.requestStop({
      ...{ accountId: fixture.accountId, runId: parent.claim.runId, reason: 'enough' },
    });

    expect(run.status).toBe('stopping');
    expect(stops.map(({ runId }) => runId)).toEqual(expect.arrayContaining([parent.claim.runId, id]));
    for (const below of [id, createChild(inner)]) expect((await read(below)).stop_requested_at).not.toBeNull();
    expect(await fixture.claim(parent.claim.runId, 'worker-3')).toMatchObject({ stop: { reason: 'enough' } });
    expect((await trees.listStoppedBelow(parent.claim.runId)).map(({ run_id }) => run_id).toSorted()).toEqual(
      [id, createChild(inner)].toSorted(),
    );
  });
});

describe('what was left undone because a process died', () => {
  it('stops the children of a run that is over', async () => {
    const parent = await readParent(1);
    await start(parent);
    await fixture.store.append(parent.claim, [
      { type: 'run.failed', iteration: 1, data: { error: { code: 'internal', message: 'broke' }, usage: noUsage } },
    ]);

    await trees.catchUp();

    expect(await read(createChild(parent))).toMatchObject({ status: 'stopped' });
  });

  it('stops a child that waits for a person, where its call says so', async () => {
    const parent = await readParent(1, { input: { on_waiting: 'stop' } });
    await start(parent);
    await park(parent);
    const child = await fixture.claim(createChild(parent));
    const question = { text: 'Which one?', attachments: [], tool_call_id: 'call_1' };
    await fixture.store.append(child, [
      iterationStarted(1),
      { type: 'run.waiting', iteration: 1, data: { reason: 'ask', question } },
    ]);

    await trees.catchUp();
    await trees.catchUp();

    const { data } = await fixture.runs.toolCalls(
      { accountId: fixture.accountId, runId: parent.claim.runId },
      { limit: 5 },
    );
    expect(data[0]?.result?.error).toBe(`${child.runId} was stopped: it waited for a person: Which one?`);
  });
});

describe('the budget of a tree', () => {
  const used = (input_tokens: number) => usage({ input_tokens, output_tokens: 1 });

  it('counts what all its runs have spent, and resumes those that wait when it is raised', async () => {
    const parent = await readParent(1, { budget: { tokens: 300, on_exceeded: 'wait' } });
    await fixture.store.append(parent.claim, [used(99)]);
    const alone = { rootRunId: parent.claim.runId, runId: parent.claim.runId };
    expect((await trees.resolveBudget(alone))?.spentByOthers).toEqual(noUsage);
    await start(parent);
    await park(parent);
    const child = await fixture.claim(createChild(parent));
    await fixture.store.append(child, [iterationStarted(1), used(199)]);
    const root = parent.claim.runId;
    const spent = { cached_tokens: 0, output_tokens: 1, cost_usd: 0.5 };
    for (const [runId, byOthers] of [
      [root, 199],
      [child.runId, 99],
    ] as const) {
      expect(await trees.resolveBudget({ rootRunId: root, runId })).toEqual({
        rootRunId: root,
        budget: { tokens: 300, on_exceeded: 'wait' },
        spentByOthers: { ...spent, input_tokens: byOthers },
      });
    }

    const budget = { usd: null, tokens: 300, spent_usd: 1, spent_tokens: 300, root_run_id: root };
    await fixture.store.append(child, [{ type: 'run.waiting', iteration: 1, data: { reason: 'budget', budget } }]);
    await trees.catchUp();
    expect((await read(child.runId)).status).toBe('waiting_budget');
    expect((await fixture.runs.why({ accountId: fixture.accountId, runId: child.runId })).sentence).toContain(
      `Waits for a higher budget of ${root} and the runs below it: 300 of 300 tokens are used`,
    );

    const { facts } = await fixture.runs.raiseBudget({
      ...{ accountId: fixture.accountId, runId: root, raisedBy: 'key_1', tokens: 1_000 },
    });

    expect(facts.map(({ type, run_id }) => [type, run_id])).toEqual([
      ['budget.raised', root],
      ['run.resumed', child.runId],
    ]);
    expect((await read(child.runId)).status).toBe('queued');
  });
});
