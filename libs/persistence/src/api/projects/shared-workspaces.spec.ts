import { Purge } from '../../retention/purge';
import { StoreFixture, completed, newAccount, nextId, started } from '../../testing/store-fixture';
import { Sandboxes } from '../sandboxes';
import { Projects } from './projects';
import { PublicReads } from './public-reads';

let fixture: StoreFixture;
let projects: Projects;
let sandboxes: Sandboxes;
beforeEach(async () => {
  fixture = await StoreFixture.open();
  projects = new Projects(fixture.database, nextId);
  sandboxes = new Sandboxes(fixture.database, nextId);
});
afterEach(() => fixture.close());

const newProject = (sharesWorkspace = true) =>
  projects.create({ accountId: fixture.accountId, name: 'Shared', isPublic: false, sharesWorkspace });
const purge = async () => {
  const work = new Purge({ database: fixture.database, newId: nextId, onStopped: () => undefined });
  while (await work.step());
};

/** A project whose workspace an executor has, and the claims of runs on two of its threads. */
async function twoRuns() {
  const { id: projectId } = await newProject();
  const [one, other] = [await fixture.create({ projectId }), await fixture.create({ projectId })];
  const first = await fixture.claim(one.run.id);
  await sandboxes.keep(first.workspaceId, 'executor-1');
  const second = await fixture.store.claimNext('worker-1', () => []);
  if (second?.runId !== other.run.id) throw new Error('the second run was not claimed');
  return { projectId, workspace: first.workspaceId, claims: [first, second] as const };
}

describe('the workspace of a project', () => {
  it('is used by the runs of all its threads', async () => {
    const { workspace, claims } = await twoRuns();

    const [first, second] = claims;
    expect(second).toMatchObject({ workspaceId: workspace, executorId: 'executor-1' });
    expect(new Set([workspace, first.threadId, second.threadId]).size).toBe(3);

    await fixture.store.handOver(first);
    expect(await fixture.claim(first.runId)).toMatchObject({ workspaceId: workspace, executorId: 'executor-1' });
    const { accountId } = fixture;
    for (const { threadId } of [first, second, { threadId: workspace }]) {
      expect(await sandboxes.readWorkspace({ accountId, threadId })).toBe(workspace);
      expect(await sandboxes.ofThread(accountId, threadId)).toMatchObject({ threadId: workspace });
    }
  });

  it('is no other where the threads of a project have their own', async () => {
    const { id: projectId, sandbox } = await newProject(false);
    const { run } = await fixture.create({ projectId });
    const alone = await fixture.create();

    expect(sandbox).toBe('thread');
    expect(await fixture.claim(run.id)).toMatchObject({ workspaceId: run.thread_id, executorId: null });
    expect(await fixture.claim(alone.run.id)).toMatchObject({ workspaceId: alone.run.thread_id });
  });

  it('is no thread to its clients', async () => {
    const { projectId, workspace, claims } = await twoRuns();
    const { accountId, threads, messages, runs } = fixture;
    const refused = { code: 'thread_not_found' };
    const address = { accountId, threadId: workspace };

    const listed = (await threads.list({ accountId, projectId, limit: 10 })).data.map(({ id }) => id);
    expect(listed.sort()).toEqual(claims.map(({ threadId }) => threadId).sort());
    await expect(threads.get(address)).rejects.toMatchObject(refused);
    await expect(threads.update({ ...address, isPublic: true })).rejects.toMatchObject(refused);
    await expect(threads.delete(address)).rejects.toMatchObject(refused);
    await expect(fixture.create({ threadId: workspace })).rejects.toMatchObject(refused);
    const content = [{ type: 'text' as const, text: 'Hello.' }];
    await expect(messages.add({ ...address, content })).rejects.toMatchObject(refused);
    await expect(messages.list({ ...address, llmOnly: false, limit: 10 })).rejects.toMatchObject(refused);
    expect((await runs.list({ accountId, limit: 10 })).data).toHaveLength(2);

    await projects.update({ accountId, projectId, isPublic: true });
    const shown = await new PublicReads(fixture.database).threads({ projectId, limit: 10 });
    expect(shown.data.map(({ id }) => id).sort()).toEqual(listed.sort());
  });

  it('outlives a thread that is deleted, and is deleted with the project', async () => {
    const { projectId, workspace, claims } = await twoRuns();
    const { accountId } = fixture;
    for (const claim of claims) await fixture.store.append(claim, [started, completed]);

    await fixture.threads.delete({ accountId, threadId: claims[0].threadId });
    await purge();
    expect(await sandboxes.claimDeleted()).toEqual([]);

    await projects.delete({ accountId, projectId });
    expect(await sandboxes.claimDeleted()).toEqual([{ threadId: workspace, executorId: 'executor-1' }]);
    await expect(sandboxes.readWorkspace({ accountId, threadId: workspace })).rejects.toMatchObject({
      ...{ code: 'thread_not_found' },
    });

    await sandboxes.forget([workspace]);
    await purge();
    const left = await fixture.database.sql.query('select id from threads union all select id from projects');
    expect(left).toEqual([]);
  });

  it('attack: is not reached by another account', async () => {
    const { workspace, claims } = await twoRuns();
    const accountId = await newAccount(fixture.database);

    for (const threadId of [workspace, claims[0].threadId]) {
      await expect(sandboxes.readWorkspace({ accountId, threadId })).rejects.toMatchObject({
        code: 'thread_not_found',
      });
      expect(await sandboxes.ofThread(accountId, threadId)).toBeUndefined();
    }
    expect((await sandboxes.list({ accountId, limit: 10 })).data).toEqual([]);
  });
});
