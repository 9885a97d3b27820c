import type { ProjectId } from '@rondo/contract';
import { StoreFixture, completed, newAccount, nextId, started, textInput } from '../../testing/store-fixture';
import { Purge } from '../../retention/purge';
import { ProjectTitles } from './project-titles';
import { Projects } from './projects';

let fixture: StoreFixture;
let projects: Projects;
let titles: ProjectTitles;
beforeEach(async () => {
  fixture = await StoreFixture.open();
  projects = new Projects(fixture.database, nextId);
  titles = new ProjectTitles(fixture.database);
});
afterEach(() => fixture.close());

const create = (name?: string) =>
  projects.create({ accountId: fixture.accountId, name, isPublic: false, sharesWorkspace: false });
const read = (projectId: ProjectId) => projects.get({ accountId: fixture.accountId, projectId });
const ask = (projectId: ProjectId, input: string) => fixture.create({ projectId, input: textInput(input) });
const endRun = async (run: Parameters<StoreFixture['claim']>[0]) =>
  fixture.store.append(await fixture.claim(run), [started, completed]);
const purge = async () => {
  const work = new Purge({ database: fixture.database, newId: nextId, onStopped: () => undefined });
  while (await work.step());
};
const countAll = async (table: string) =>
  (await fixture.database.sql.query<{ rows: number }>(`select count(*)::int as rows from ${table}`))[0]?.rows;

describe('a project without a name', () => {
  it('is named by its first input at once, and no other', async () => {
    const { id, name, name_source } = await create();
    expect([name, name_source]).toEqual(['New project', 'placeholder']);

    await fixture.create({ projectId: id, input: undefined });
    await ask(id, 'Write a shell script that counts to fifteen.');
    await ask(id, 'Another one.');

    expect(await read(id)).toMatchObject({ name: 'Write a shell script that…', name_source: 'placeholder' });
  });

  it('gets the title that was written', async () => {
    const { id } = await create();
    await ask(id, 'Write a poem.');

    const due = await titles.claim(10);
    await titles.set(id, 'A poem');

    expect(due).toEqual([{ projectId: id, model: 'demo/coder', input: 'Write a poem.' }]);
    expect(await read(id)).toMatchObject({ name: 'A poem', name_source: 'model' });
    expect(await titles.claim(10)).toEqual([]);
  });

  it('keeps a name that it was given while the title was written', async () => {
    const { id } = await create();
    await ask(id, 'Write a poem.');
    await titles.claim(10);
    await projects.update({ accountId: fixture.accountId, projectId: id, name: 'Mine' });

    await titles.set(id, 'A poem');

    expect(await read(id)).toMatchObject({ name: 'Mine', name_source: 'request' });
  });

  it('keeps its placeholder when three processes have died over its title', async () => {
    const { id } = await create();
    await ask(id, 'Write a poem.');
    const attempts: number[] = [];
    for (let count = 0; count < 5; count += 1) {
      attempts.push((await titles.claim(10)).length);
      await fixture.database.sql.query(
        `update projects set title_due_at = title_due_at - interval '2 minutes' where title_due_at is not null`,
      );
    }
    expect(attempts).toEqual([1, 1, 1, 0, 0]);
    expect(await read(id)).toMatchObject({ name: 'Write a poem.', name_source: 'placeholder' });
  });

  it('has each title claimed by one process', async () => {
    for (let count = 0; count < 4; count += 1) await ask((await create()).id, 'Write a poem.');
    const claimed = (await Promise.all([titles.claim(2), titles.claim(2), titles.claim(2)])).flat();
    expect(new Set(claimed.map(({ projectId }) => projectId)).size).toBe(claimed.length);
  });
});

describe('a project', () => {
  it('passes on to its threads and their runs, also to runs that come later', async () => {
    const { id } = await create('Named');
    const { run } = await ask(id, 'Go.');
    await endRun(run.id);
    const { run: second } = await fixture.create({ threadId: run.thread_id });
    const other = await fixture.create();

    expect([run.project_id, second.project_id, other.run.project_id]).toEqual([id, id, null]);
    const { accountId, runs, threads } = fixture;
    const list = await runs.list({ accountId, projectId: id, limit: 10 });
    expect(list.data.map((listed) => listed.id)).toEqual([second.id, run.id]);
    expect(await runs.count({ accountId, projectId: id })).toMatchObject({ queued: 1, completed: 1 });
    expect((await threads.list({ accountId, projectId: id, limit: 10 })).data).toMatchObject([
      { id: run.thread_id, project_id: id },
    ]);
  });

  it('is not deleted while a run is active in it', async () => {
    const { id } = await create();
    const { run } = await ask(id, 'Go.');
    await expect(projects.delete({ accountId: fixture.accountId, projectId: id })).rejects.toMatchObject({
      ...{ code: 'thread_busy', activeRunId: run.id },
    });
    expect(await read(id)).toMatchObject({ id });
  });

  it('is deleted with everything in it, and with nothing else', async () => {
    const { accountId, database } = fixture;
    const { id } = await create();
    const { run } = await ask(id, 'Go.');
    const { run: kept } = await fixture.create();
    await endRun(run.id);
    await endRun(kept.id);

    await projects.delete({ accountId, projectId: id });
    await expect(read(id)).rejects.toMatchObject({ code: 'project_not_found' });
    await expect(ask(id, 'More.')).rejects.toMatchObject({ code: 'project_not_found' });
    await expect(fixture.runs.get({ accountId, runId: run.id })).rejects.toMatchObject({ code: 'run_not_found' });
    await purge();

    expect([await countAll('projects'), await countAll('threads'), await countAll('runs')]).toEqual([0, 1, 1]);
    expect(await database.sql.query('select run_id from run_inputs')).toEqual([{ run_id: kept.id }]);
  });

  it('keeps its row until the workspaces of its threads are deleted', async () => {
    const { id } = await create();
    const { run } = await ask(id, 'Go.');
    await endRun(run.id);
    await fixture.database.sql.query(
      `insert into sandboxes (id, thread_id, executor_id) values ('sbx_1', $1, 'executor')`,
      [run.thread_id],
    );
    await projects.delete({ accountId: fixture.accountId, projectId: id });
    await purge();

    const rows = await fixture.database.sql.query('select id from sandboxes where vacate_at is not null');
    expect([rows.length, await countAll('projects')]).toEqual([1, 1]);
    await fixture.database.sql.query('delete from sandboxes');
    await purge();
    expect(await countAll('projects')).toBe(0);
  });
});

describe('attack: tenants', () => {
  it("adds to a stranger's project, or reads, changes and deletes it", async () => {
    const { id } = await create('Mine');
    const accountId = await newAccount(fixture.database);
    const refused = { code: 'project_not_found' };

    await expect(fixture.create({ accountId, projectId: id })).rejects.toMatchObject(refused);
    await expect(fixture.threads.create({ accountId, projectId: id, metadata: {} })).rejects.toMatchObject(refused);
    await expect(projects.get({ accountId, projectId: id })).rejects.toMatchObject(refused);
    await expect(projects.update({ accountId, projectId: id, isPublic: true })).rejects.toMatchObject(refused);
    await expect(projects.delete({ accountId, projectId: id })).rejects.toMatchObject(refused);
    expect((await projects.list({ accountId, limit: 10 })).data).toEqual([]);
    expect(await read(id)).toMatchObject({ name: 'Mine', is_public: false });
  });
});
