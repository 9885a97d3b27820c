import { type AgentId, agentId } from '@rondo/contract';
import { StoreFixture, completed, newAccount, settings, started, textInput } from '../../testing/store-fixture';
import { type RunFilter, countStatement, listStatement } from './list-runs';

let fixture: StoreFixture;
beforeAll(async () => {
  fixture = await StoreFixture.open();
});
afterAll(() => fixture.close());

const agent = agentId.parse('agt_one');
const created = async (metadata: Record<string, string> = {}, of?: AgentId) => {
  const { run } = await fixture.create({ metadata, agent: of && { id: of, version: 1, isNamed: false }, settings });
  return run;
};
const readIds = async (filter: Partial<RunFilter>) =>
  (await fixture.runs.list({ accountId: fixture.accountId, limit: 50, ...filter })).data.map(({ id }) => id);

describe('a list of runs', () => {
  it('has the runs that meet every condition', async () => {
    const [first, second, third] = [
      await created({ team: 'a' }),
      await created({ team: 'a' }, agent),
      await created({}, agent),
    ];
    await fixture.store.append(await fixture.claim(first.id), [started, completed]);
    const time = (await fixture.runs.get({ accountId: fixture.accountId, runId: second.id })).created_at;

    expect(await readIds({ agentId: agent })).toEqual([third.id, second.id]);
    expect(await readIds({ metadata: { key: 'team', value: 'a' } })).toEqual([second.id, first.id]);
    expect(await readIds({ agentId: agent, metadata: { key: 'team', value: 'a' } })).toEqual([second.id]);
    expect(await readIds({ statuses: ['completed', 'failed'] })).toEqual([first.id]);
    expect(await readIds({ statuses: ['completed', 'queued'] })).toEqual([third.id, second.id, first.id]);
    expect(await readIds({ finishReasons: ['budget_exceeded', 'stop'] })).toEqual([first.id]);
    expect(await readIds({ finishReasons: ['budget_exceeded'] })).toEqual([]);
    expect(await readIds({ model: first.model, agentId: agent })).toEqual([third.id, second.id]);
    expect(await readIds({ model: 'none/none\0' })).toEqual([]);
    expect(await readIds({ createdFrom: time, threadId: second.thread_id })).toEqual([second.id]);
    expect(await readIds({ createdBefore: time, threadId: second.thread_id })).toEqual([]);
  });

  it('is read in pages under a filter', async () => {
    const filter = { accountId: fixture.accountId, agentId: agent, limit: 1 };
    const first = await fixture.runs.list(filter);
    const second = await fixture.runs.list({ ...filter, after: first.next_cursor ?? '' });
    expect([first.has_more, second.has_more]).toEqual([true, false]);
    expect(second.data[0]?.id).not.toBe(first.data[0]?.id);
  });

  it.each([
    ['key', 'x'],
    ['key', 'a"b\\'],
    ['key', '\u0000'],
    ['key', '%_'],
  ])('finds metadata %j: %j and nothing that only looks like it', async (key, value) => {
    const run = await created({ other: `"${key}":"${value}"`, [`${key}2`]: value, [key]: `${value}!` });
    const right = await created({ before: 'x', [key]: value });
    const found = await readIds({ metadata: { key, value } });
    expect(found).toContain(right.id);
    expect(found).not.toContain(run.id);
  });
});

describe('a search in inputs', () => {
  const said = (input: string) => fixture.create({ input: textInput(input) }).then(({ run }) => run.id);

  it('finds words of the whole input in any order, phrases, alternatives and exclusions', async () => {
    const long = await said(`Prüfe die Rechnung. ${'Bitte. '.repeat(100)} Sende sie an Ada.`);
    const short = await said('An invoice for Ada');

    expect(await readIds({ words: 'ada RECHNUNG' })).toEqual([long]);
    expect(await readIds({ words: 'Ada' })).toEqual([short, long]);
    expect(await readIds({ words: '"die rechnung"' })).toEqual([long]);
    expect(await readIds({ words: '"rechnung die"' })).toEqual([]);
    expect(await readIds({ words: 'invoice or rechnung' })).toEqual([short, long]);
    expect(await readIds({ words: 'ada -invoice' })).toEqual([long]);
    expect(await readIds({ words: 'ada', statuses: ['completed'] })).toEqual([]);
  });

  it('finds a queued run, and is read in pages', async () => {
    const first = await fixture.create({ input: textInput('A walrus') });
    const second = await said('Two walrus calves');
    const queued = await fixture.create({
      ...{ threadId: first.run.thread_id, input: textInput('Another walrus'), onActiveRun: 'queue' },
    });

    const page = await fixture.runs.list({ accountId: fixture.accountId, words: 'walrus', limit: 2 });
    const next = await readIds({ words: 'walrus', after: page.next_cursor ?? '' });
    expect([...page.data.map(({ id }) => id), ...next]).toEqual([queued.run.id, second, first.run.id]);
  });

  it.each(['!!!', '" "', "'", '&|!():*<->', '\u0000', '\\', 'or', '-'])('finds nothing for %j', async (words) => {
    await said('Something');
    expect(await readIds({ words })).toEqual([]);
  });

  it('keeps accounts apart, also where an input names the other account', async () => {
    const other = await newAccount(fixture.database);
    await fixture.create({ accountId: other, input: textInput(`narwhal ${fixture.accountId}`) });
    expect(await readIds({ words: 'narwhal' })).toEqual([]);
  });

  it('stores what Postgres cannot hold as text, and finds the words around it', async () => {
    const id = await said('nul\u0000 and half \ud800 orca');
    expect(await readIds({ words: 'orca' })).toEqual([id]);
  });
});

describe('the preview of a run', () => {
  const readPreview = async (input?: string) =>
    (await fixture.create({ input: input === undefined ? undefined : textInput(input) })).run;

  it('is the first words of its input, and is read back as it was returned', async () => {
    const run = await readPreview(`Write\na "poem" \\ about\u0007 ${'autumn '.repeat(30)}`);
    expect(run.preview).toContain('Write a "poem" \\ about\u0007 autumn autumn');
    expect(run.preview).toMatch(/ autumn…$/);
    expect(await fixture.runs.get({ accountId: fixture.accountId, runId: run.id })).toEqual(run);
  });

  it('is null without an input', async () => {
    expect((await readPreview()).preview).toBeNull();
  });
});

describe('counts of runs', () => {
  it('are those of the account, in every status, without deleted threads', async () => {
    const accountId = await newAccount(fixture.database);
    const [done, gone] = [await fixture.create({ accountId }), await fixture.create({ accountId })];
    await fixture.create({ accountId });
    for (const { run } of [done, gone]) await fixture.store.append(await fixture.claim(run.id), [started, completed]);
    expect(await fixture.runs.count({ accountId })).toMatchObject({ completed: 2, queued: 1, failed: 0, running: 0 });

    await fixture.threads.delete({ accountId, threadId: gone.run.thread_id });

    expect(await fixture.runs.count({ accountId })).toMatchObject({ completed: 1, queued: 1 });
    expect(await fixture.runs.count({ accountId, threadId: done.run.thread_id })).toMatchObject({
      completed: 1,
      queued: 0,
    });
    expect(await fixture.runs.count({ accountId, agentId: agent })).toMatchObject({ completed: 0, queued: 0 });
  });
});

describe('the plans', () => {
  /** On tables with enough rows that a scan would be a mistake. */
  beforeAll(async () => {
    await fixture.database.sql.query(
      `
      with made as (
        insert into threads (id, account_id) select 'thr_p' || n, $1 from generate_series(1, 5000) as n returning id
      )
      insert into runs (id, account_id, thread_id, status, profile, model, settings, holds_thread, agent_id, finished_at)
      select 'run_p' || substr(id, 6), $1, id, 'completed', 'suna', 'demo/coder', '{}', false,
        case when id like '%00' then 'agt_rare' else 'agt_usual' end, now() from made`,
      [fixture.accountId],
    );
    await fixture.database.sql.query(`insert into run_inputs
      select id, account_id, 'Look at ' || id from runs where id like 'run_p%'`);
    for (const table of ['runs', 'threads', 'run_inputs']) await fixture.database.sql.query(`vacuum analyze ${table}`);
  });

  it('read the runs of an agent from its index', async () => {
    const plan = await fixture.explain(listStatement(['agentId']), `'${fixture.accountId}', 'agt_rare', 50`);
    expect(plan).toContain('runs_of_agent');
    expect(plan).not.toContain('Seq Scan on runs');
  });

  it('read the runs whose input has some words from their index', async () => {
    const plan = await fixture.explain(listStatement(['words']), `'${fixture.accountId}', 'invoice', 50`);
    expect(plan).toContain('Bitmap Index Scan on run_inputs_words');
    expect(plan).not.toContain('Seq Scan on run');
  });

  it('read the newest runs from the index of the account', async () => {
    const plan = await fixture.explain(listStatement(['before']), `'${fixture.accountId}', 'run_p4', 50`);
    expect(plan).toContain('runs_account_id_id_idx');
    expect(plan).not.toContain('Seq Scan on runs');
  });

  it('count finished runs without reading them', async () => {
    const plan = await fixture.explain(countStatement.text, `'${fixture.accountId}', null, null`);
    expect(plan).toContain('Index Only Scan using runs_finished_of_account');
    expect(plan).not.toContain('Seq Scan on runs');
  });
});
