import { type RunId, eventId } from '@rondo/contract';
import {
  ClaimLostError,
  type ToolAnswer,
  type ToolDefinition,
  type ToolSet,
  budgetOfModel,
  idGenerator,
  tools as builtIn,
} from '@rondo/domain';
import { EvenTokenCounter, LedgeredTools, ScriptedModel, calls, says } from '@rondo/domain/testing';
import { PostgresRunStore, type StoredToolSet, ToolSetSweep, ToolSets } from '@rondo/persistence';
import { StoreFixture, iterationStarted, settings, started } from '@rondo/persistence/testing';
import { isoNow, newUlid } from '@rondo/platform';
import { ActiveRuns, RunToolSets } from '@rondo/run-holder';
import { AgentRunner } from './agent-runner';
import type { AgentRunnerParts } from './agent-runner-parts';

const command = { name: 'execute_command', arguments: { command: 'make', blocking: true } };

/** What an older version was built with: other words for a tool, and a tool that is gone today. */
const olderTools = builtIn.flatMap((tool): ToolDefinition[] => {
  if (tool.name !== 'execute_command') return [tool];
  const older = { ...tool, description: 'Runs a command, as it used to.' };
  return [older, { ...older, name: 'removed_tool', description: 'Gone today.' }];
});

let fixture: StoreFixture;
beforeAll(async () => {
  fixture = await StoreFixture.open();
});
beforeEach(() => fixture.database.sql.query('delete from tool_sets'));
afterAll(() => fixture.close());

class CountingToolSets extends ToolSets {
  readonly kept: string[] = [];

  override keep(set: StoredToolSet): Promise<void> {
    this.kept.push(set.hash);
    return super.keep(set);
  }
}

/** A worker process of a version that was built with these tools. */
function worker(tools: readonly ToolDefinition[], parts: Partial<AgentRunnerParts> = {}, clock = { ms: 0 }) {
  const model = new ScriptedModel([calls(command), says('Done.')]);
  const stored = new CountingToolSets(fixture.database);
  const toolSets = new RunToolSets({ stored, builtIn: tools, nowMs: () => clock.ms });
  const handed: ToolSet[] = [];
  const runner = new AgentRunner({
    owner: `worker-${newUlid()}`,
    store: fixture.store,
    feed: { publish: () => undefined },
    modelFor: () => model,
    toolSetFor: (claim) => toolSets.toolSetFor(claim),
    toolsFor: (_claim, _journal, toolSet) => {
      handed.push(toolSet);
      return Object.assign(new LedgeredTools(), { close: () => undefined });
    },
    tokens: new EvenTokenCounter(),
    resolveBudget: budgetOfModel,
    ids: idGenerator(newUlid),
    clock: { now: isoNow },
    activeRuns: new ActiveRuns(),
    onError: () => undefined,
    isOutage: () => false,
    publishJobs: () => Promise.resolve(),
    journal: { frameMs: 5, newEventId: () => eventId.parse(`evt_${newUlid()}`), now: isoNow },
    ...parts,
  });
  return { runner, model, stored, handed };
}

async function createRun(): Promise<RunId> {
  const tools = [...settings.tools, 'removed_tool'];
  return (await fixture.create({ settings: { ...settings, tools } })).run.id;
}

/** Frees the memory of workers that died. */
let burials: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await Promise.all(burials.map((bury) => bury()));
  burials = [];
});

/** Activates the run on a worker that dies there: `hang` does not resolve in the test, and the lease expires. */
async function diesIn(id: RunId, start: (hang: () => Promise<never>) => { runner: AgentRunner }): Promise<void> {
  await new Promise<void>((died) => {
    const hang = () =>
      new Promise<never>((_, reject) => {
        burials.push(() => (reject(new ClaimLostError(id)), activation));
        died();
      });
    const activation = start(hang).runner.activate(id);
  });
  await fixture.expireLease(id);
}

const hangingTools = (hang: () => Promise<ToolAnswer>) =>
  Object.assign(new LedgeredTools(), { execute: hang, close: () => undefined });

const storedHashes = async () =>
  (await fixture.database.sql.query<{ hash: string }>('select hash from tool_sets')).map(({ hash }) => hash);

const findStart = async (id: RunId) =>
  (await fixture.runs.events({ accountId: fixture.accountId, runId: id }, { after: 0, limit: 100 })).data.find(
    ({ type }) => type === 'run.started',
  )?.data;

describe('a run that an older version started', () => {
  it('goes on with the tools that it began with, after the older worker has died', async () => {
    const id = await createRun();
    const older = worker(olderTools);
    const handedToOlder: ToolSet[] = [];
    await diesIn(id, (hang) => {
      const toolsFor: AgentRunnerParts['toolsFor'] = (_claim, _journal, toolSet) => {
        handedToOlder.push(toolSet);
        return hangingTools(hang);
      };
      return worker(olderTools, { modelFor: () => older.model, toolsFor });
    });

    const newer = worker(builtIn);
    expect(await newer.runner.activate(id)).toBe('ended');

    const [before, after] = [older.model.requests[0], newer.model.requests[0]];
    expect(JSON.stringify(after?.tools)).toBe(JSON.stringify(before?.tools));
    expect(after?.system).toBe(before?.system);
    expect(JSON.stringify(after?.tools)).toContain('as it used to');
    const [set] = newer.handed;
    expect(set?.named('removed_tool')?.description).toBe('Gone today.');
    expect(set?.hash).toBe(handedToOlder[0]?.hash);
    expect(await findStart(id)).toEqual({ tool_set: set?.hash });
    expect(await storedHashes()).toEqual([set?.hash]);
  });

  it('uses the tools of the version that starts it, if the older worker died before the start was committed', async () => {
    const id = await createRun();
    await diesIn(id, (hang) => {
      const { database } = fixture;
      const store = Object.assign(new PostgresRunStore({ database, newId: newUlid }), { append: hang });
      return worker(olderTools, { store });
    });
    const [orphan] = await storedHashes();

    const newer = worker(builtIn);
    expect(await newer.runner.activate(id)).toBe('ended');

    const { tool_set: hash } = (await findStart(id)) as { tool_set: string };
    expect(hash).not.toBe(orphan);
    expect(JSON.stringify(newer.model.requests[0]?.tools)).not.toContain('as it used to');
    await fixture.database.sql.query(
      `update tool_sets set last_used_at = last_used_at - interval '31 days' where hash = $1`,
      [orphan],
    );
    expect(await new ToolSetSweep(fixture.database, 30).sweep()).toBe(1);
    expect(await storedHashes()).toEqual([hash]);
  });

  it('uses the tools of this version, if the older one stored none', async () => {
    const id = await createRun();
    const claim = await fixture.claim(id, 'worker-0');
    await fixture.store.append(claim, [started, iterationStarted(1)]);
    await fixture.store.handOver(claim);

    const { runner, handed } = worker(builtIn);
    expect(await runner.activate(id)).toBe('ended');

    expect(handed[0]?.hash).toBeUndefined();
    expect(handed[0]?.all).toBe(builtIn);
    expect(await storedHashes()).toEqual([]);
  });

  it('fails with the reason when its tools are lost, and offers no others', async () => {
    const id = await createRun();
    await diesIn(id, (hang) => worker(olderTools, { toolsFor: () => hangingTools(hang) }));
    await fixture.database.sql.query('delete from tool_sets');

    const newer = worker(builtIn);
    expect(await newer.runner.activate(id)).toBe('ended');

    expect(newer.model.requests).toEqual([]);
    const run = await fixture.runs.get({ accountId: fixture.accountId, runId: id });
    expect(run).toMatchObject({ status: 'failed', error: { code: 'tool_set_lost' } });
  });
});

describe('the tool sets of a worker', () => {
  it('are stored once per process, noted as used again after an hour, and shared by runs with equal settings', async () => {
    const clock = { ms: 0 };
    const { runner, stored, handed } = worker(builtIn, {}, clock);
    for (let count = 0; count < 3; count += 1) await runner.activate(await createRun());
    expect(stored.kept).toHaveLength(1);
    expect(new Set(handed).size).toBe(1);

    clock.ms += 3_600_000;
    await runner.activate(await createRun());
    expect(new Set(stored.kept).size).toBe(1);
    expect(stored.kept).toHaveLength(2);
  });

  it('with the tools of a server belong to the account of the run', async () => {
    const server = { kind: 'mcp', server: 'tickets', tool: 'create', fingerprint: 'f1' } as const;
    const tools = [
      ...olderTools,
      ...olderTools.slice(0, 1).map((tool) => ({ ...tool, name: 'tickets', source: server })),
    ];
    const stored = new ToolSets(fixture.database);
    const toolSets = new RunToolSets({ stored, builtIn, catalogFor: () => Promise.resolve({ tools }) });

    const set = await toolSets.toolSetFor(await fixture.claimed());

    expect(set.named('tickets')?.source).toEqual(server);
    expect(await fixture.database.sql.query('select account_id from tool_sets where hash = $1', [set.hash])).toEqual([
      { account_id: fixture.accountId },
    ]);
  });

  it('that describe a tool as an account does belong to it, and to no run that does not', async () => {
    const stored = new ToolSets(fixture.database);
    const toolSets = new RunToolSets({ stored, builtIn });
    const claim = await fixture.claimed();
    const policies = { execute_command: { description: 'Runs make.' } };
    const described = { ...claim, run: { ...claim.run, settings: { ...claim.run.settings, tool_policies: policies } } };

    const set = await toolSets.toolSetFor(described);

    expect(set.named('execute_command')?.description).toBe('Runs make.');
    expect((await toolSets.toolSetFor(claim)).named('execute_command')?.description).not.toBe('Runs make.');
    expect(await fixture.database.sql.query('select account_id from tool_sets where hash = $1', [set.hash])).toEqual([
      { account_id: fixture.accountId },
    ]);
  });
});
