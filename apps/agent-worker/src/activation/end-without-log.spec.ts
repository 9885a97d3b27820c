import { type RunId, eventId } from '@rondo/contract';
import { type IdsAndClock, budgetOfModel, idsAndClock, maxFruitlessClaims } from '@rondo/domain';
import { EvenTokenCounter, LedgeredTools, ScriptedModel, says } from '@rondo/domain/testing';
import { StoreFixture, iterationStarted, planned, started } from '@rondo/persistence/testing';
import { isoNow, newUlid } from '@rondo/platform';
import { AgentRunner, type ActivationOutcome } from './agent-runner';
import { ActiveRuns } from './active-runs';

let house: StoreFixture;
beforeAll(async () => {
  house = await StoreFixture.open();
});
afterAll(() => house.close());

const clerk: IdsAndClock = idsAndClock(newUlid, isoNow);

function runner() {
  const hands = new LedgeredTools();
  const broke: unknown[] = [];
  const agent = new AgentRunner({
    owner: 'worker-1',
    store: house.store,
    feed: { publish: () => undefined },
    modelFor: () => new ScriptedModel([says('Done.')]),
    tokens: new EvenTokenCounter(),
    budgetOf: budgetOfModel,
    toolsFor: () => Object.assign(hands, { close: () => undefined }),
    clerk,
    held: new ActiveRuns(),
    broke: (about) => broke.push(about),
    passes: () => false,
    handedOver: () => Promise.resolve(),
    journal: { frameMs: 5, newEventId: () => eventId.parse(`evt_${newUlid()}`), now: isoNow },
  });
  return { agent, broke };
}

/** A run with a call that was planned and never sent, which its holder left. */
async function interrupted(): Promise<RunId> {
  const claim = await house.claimed('worker-0');
  await house.store.append(claim, [started, iterationStarted(1), planned(claim, { name: 'execute_command' })]);
  await house.store.handOver(claim);
  return claim.runId;
}

async function untilItEnds(agent: AgentRunner, id: RunId): Promise<ActivationOutcome[]> {
  const verdicts: ActivationOutcome[] = [];
  while (verdicts.length < 20 && verdicts.at(-1) !== 'ended') verdicts.push(await agent.activate(id));
  return verdicts;
}

const endOf = async (id: RunId) => {
  const types = `select type, data from run_events where run_id = $1 and seq > 5 order by seq`;
  return house.database.sql.query<{ type: string; data: unknown }>(types, [id]);
};

const spoil = (how: string, id: RunId) =>
  house.database.sql.query(`update run_events set ${how} where run_id = $1 and seq = 2`, [id]);

describe('a run whose log cannot be read', () => {
  it('fails as no_progress after ten claims, with its open call answered (I6)', async () => {
    const { agent, broke } = runner();
    const id = await interrupted();
    await spoil(`at = 'infinity'`, id);

    const verdicts = await untilItEnds(agent, id);

    expect(verdicts).toEqual([...Array<ActivationOutcome>(maxFruitlessClaims - 1).fill('not readable'), 'ended']);
    expect(broke).toHaveLength(maxFruitlessClaims);
    expect(await endOf(id)).toMatchObject([
      { type: 'tool.failed' },
      { type: 'message.created' },
      { type: 'run.failed', data: { error: { code: 'no_progress' } } },
    ]);
  });

  it('fails as no_progress where its log can be read but not replayed', async () => {
    const { agent } = runner();
    const id = await interrupted();
    await spoil(`data = '{}'`, id);

    const verdicts = await untilItEnds(agent, id);

    expect(verdicts.length).toBeLessThanOrEqual(maxFruitlessClaims + 2);
    expect((await endOf(id)).at(-1)).toMatchObject({ type: 'run.failed', data: { error: { code: 'no_progress' } } });
  });

  it('is stopped where a stop was requested (I7)', async () => {
    const { agent } = runner();
    const id = await interrupted();
    await spoil(`data = '{}'`, id);
    await house.runs.requestStop({ accountId: house.accountId, runId: id, reason: 'enough' });

    await untilItEnds(agent, id);

    expect((await endOf(id)).at(-1)).toMatchObject({ type: 'run.stopped', data: { reason: 'enough' } });
  });
});
