import { type RunId, eventId } from '@rondo/contract';
import { budgetOfModel, builtInTools, idGenerator, maxFruitlessClaims } from '@rondo/domain';
import { EvenTokenCounter, LedgeredTools, ScriptedModel, says } from '@rondo/domain/testing';
import { StoreFixture, iterationStarted, planned, started } from '@rondo/persistence/testing';
import { isoNow, newUlid } from '@rondo/platform';
import { ActiveRuns } from '@rondo/run-holder';
import { AgentRunner } from './agent-runner';
import type { ActivationOutcome } from './agent-runner-parts';

let fixture: StoreFixture;
beforeAll(async () => {
  fixture = await StoreFixture.open();
});
afterAll(() => fixture.close());

const ids = idGenerator(newUlid);

function runner() {
  const tools = new LedgeredTools();
  const errors: unknown[] = [];
  const agent = new AgentRunner({
    owner: 'worker-1',
    store: fixture.store,
    feed: { publish: () => undefined },
    modelFor: () => new ScriptedModel([says('Done.')]),
    tokens: new EvenTokenCounter(),
    resolveBudget: budgetOfModel,
    toolSetFor: () => Promise.resolve(builtInTools),
    toolsFor: () => Object.assign(tools, { close: () => undefined }),
    ids,
    clock: { now: isoNow },
    activeRuns: new ActiveRuns(),
    onError: (details) => errors.push(details),
    isOutage: () => false,
    publishJobs: () => Promise.resolve(),
    journal: { frameMs: 5, newEventId: () => eventId.parse(`evt_${newUlid()}`), now: isoNow },
  });
  return { agent, errors };
}

/** A run with a reply that was shown, and a call that was planned and never sent, which its holder left. */
async function interrupted() {
  const claim = await fixture.claimed('worker-0');
  const begun = iterationStarted(1);
  await fixture.store.append(claim, [started, begun, planned(claim, { name: 'execute_command' })]);
  await fixture.store.handOver(claim);
  return { id: claim.runId, reply: begun.data.message_id };
}

async function untilItEnds(agent: AgentRunner, id: RunId): Promise<ActivationOutcome[]> {
  const outcomes: ActivationOutcome[] = [];
  while (outcomes.length < 20 && outcomes.at(-1) !== 'ended') outcomes.push(await agent.activate(id));
  return outcomes;
}

const readEnd = async (id: RunId) => {
  const types = `select type, data from run_events where run_id = $1 and seq > 5 order by seq`;
  return fixture.database.sql.query<{ type: string; data: unknown }>(types, [id]);
};

const spoil = (how: string, id: RunId) =>
  fixture.database.sql.query(`update run_events set ${how} where run_id = $1 and seq = 2`, [id]);

describe('a run with a fact that only a newer version knows', () => {
  const unknownFact = `type = 'plan.changed'`;

  it('is left to that version, and completes when it is known', async () => {
    const { agent, errors } = runner();
    const { id } = await interrupted();
    await spoil(unknownFact, id);

    const outcomes: ActivationOutcome[] = [];
    for (let tries = 0; tries <= maxFruitlessClaims; tries += 1) outcomes.push(await agent.activate(id));
    await spoil(`type = 'message.created'`, id);

    expect(new Set(outcomes)).toEqual(new Set(['needs a newer version']));
    expect(errors).toHaveLength(maxFruitlessClaims + 1);
    expect(await untilItEnds(agent, id)).toEqual(['ended']);
    expect((await readEnd(id)).at(-1)).toMatchObject({ type: 'run.completed' });
  });

  it('is stopped where a stop was requested, with its open call answered (I6, I7)', async () => {
    const { agent } = runner();
    const { id } = await interrupted();
    await spoil(unknownFact, id);
    await fixture.runs.requestStop({ accountId: fixture.accountId, runId: id, reason: 'enough' });

    await untilItEnds(agent, id);

    expect((await readEnd(id)).map(({ type }) => type)).toEqual(expect.arrayContaining(['tool.failed', 'run.stopped']));
  });
});

describe('a run whose log cannot be read', () => {
  it('fails as no_progress after ten claims, with its reply withdrawn and its open call answered (I6, I13)', async () => {
    const { agent, errors } = runner();
    const { id, reply } = await interrupted();
    await spoil(`at = 'infinity'`, id);

    const outcomes = await untilItEnds(agent, id);

    expect(outcomes).toEqual([...Array<ActivationOutcome>(maxFruitlessClaims - 1).fill('not readable'), 'ended']);
    expect(errors).toHaveLength(maxFruitlessClaims);
    expect(await readEnd(id)).toMatchObject([
      { type: 'iteration.restarted', data: { withdrawn_stream_ids: expect.arrayContaining([reply]) as unknown } },
      { type: 'tool.failed' },
      { type: 'message.created' },
      { type: 'run.failed', data: { error: { code: 'no_progress' } } },
    ]);
  });

  it('fails as no_progress where its log can be read but not replayed', async () => {
    const { agent } = runner();
    const { id } = await interrupted();
    await spoil(`data = '{}'`, id);

    const outcomes = await untilItEnds(agent, id);

    expect(outcomes.length).toBeLessThanOrEqual(maxFruitlessClaims + 2);
    expect((await readEnd(id)).at(-1)).toMatchObject({ type: 'run.failed', data: { error: { code: 'no_progress' } } });
  });

  it('is stopped where a stop was requested (I7)', async () => {
    const { agent } = runner();
    const { id } = await interrupted();
    await spoil(`data = '{}'`, id);
    await fixture.runs.requestStop({ accountId: fixture.accountId, runId: id, reason: 'enough' });

    await untilItEnds(agent, id);

    const end = await readEnd(id);
    expect(end.at(-1)).toMatchObject({ type: 'run.stopped', data: { reason: 'enough' } });
    expect(end.map(({ type }) => type)).toContain('iteration.restarted');
  });
});
