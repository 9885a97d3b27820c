import { type CallId, type ThreadId, threadId } from '@rondo/contract';
import type { ClaimedRun } from '@rondo/domain';
import { StoreFixture, completed, nextId, planned } from '../testing/store-fixture';
import { Projects } from './projects/projects';
import { Sandboxes } from './sandboxes';
import { WorkspaceMoves } from './workspace-moves';

const [lost, other, third] = ['exe_lost', 'exe_other', 'exe_third'] as const;

let fixture: StoreFixture;
let moves: WorkspaceMoves;
let sandboxes: Sandboxes;
beforeEach(async () => {
  fixture = await StoreFixture.open();
  moves = new WorkspaceMoves(fixture.database);
  sandboxes = new Sandboxes(fixture.database, nextId);
});
afterEach(() => fixture.close());

async function hosted(): Promise<ClaimedRun> {
  const claim = await fixture.claimed();
  await sandboxes.keep(claim.workspaceId, lost);
  return claim;
}

/** A call that was recorded as sent. */
async function sent(claim: ClaimedRun): Promise<CallId> {
  const plan = planned(claim, { name: 'execute_command' });
  const { id, name } = plan.data.tool_call;
  const start = {
    type: 'tool.started',
    iteration: 1,
    data: { tool_call_id: id, name, attempt: 1, store: null },
  } as const;
  await fixture.store.append(claim, [plan, start]);
  return id;
}

const findHost = async (thread: ThreadId) => (await moves.toPlace(thread))?.executorId;
const createMove = (thread: ThreadId, unsent: readonly CallId[] = []) => ({
  threadId: thread,
  from: lost,
  to: other,
  unsent,
});

describe('a workspace whose executor is lost', () => {
  it('is hosted by another executor after the last step, for every later claim', async () => {
    const claim = await hosted();
    const move = createMove(claim.workspaceId);

    expect(await moves.begin(move)).toBe(true);
    expect(await moves.toPlace(claim.workspaceId)).toEqual({ executorId: lost, movingTo: other });
    expect(await moves.complete(move)).toBe(true);

    expect(await findHost(claim.workspaceId)).toBe(other);
    await fixture.store.handOver(claim);
    expect(await fixture.claim(claim.runId)).toMatchObject({ executorId: other });
  });

  it('stays where it is while the lost executor may have got a call (I5)', async () => {
    const claim = await hosted();
    const callId = await sent(claim);
    const move = createMove(claim.workspaceId);

    expect(await moves.begin(move)).toBe(false);
    expect(await moves.begin(createMove(claim.workspaceId, [callId]))).toBe(true);
    expect(await moves.complete(move)).toBe(false);

    await fixture.store.append(claim, [completed]);
    expect(await moves.complete(move)).toBe(true);
  });

  it('waits for the calls of every thread that shares it (I5)', async () => {
    const projects = new Projects(fixture.database, nextId);
    const { accountId } = fixture;
    const { id: projectId } = await projects.create({ accountId, name: 'P', isPublic: false, sharesWorkspace: true });
    const [one, two] = [await fixture.create({ projectId }), await fixture.create({ projectId })];
    const [first, second] = [await fixture.claim(one.run.id), await fixture.claim(two.run.id)];
    await sandboxes.keep(first.workspaceId, lost);
    const callId = await sent(second);

    expect(await moves.begin(createMove(first.workspaceId))).toBe(false);
    expect(await moves.begin(createMove(first.workspaceId, [callId]))).toBe(true);
  });

  it('stays with an executor that comes back before the last step', async () => {
    const { workspaceId } = await hosted();
    const move = createMove(workspaceId);
    await moves.begin(move);

    expect(await moves.readHosting(lost, [workspaceId])).toMatchObject({ deleted: [], moved: [] });

    expect(await moves.complete(move)).toBe(false);
    expect(await findHost(workspaceId)).toBe(lost);
  });

  it('is the last target’s, when two workers have begun with different ones', async () => {
    const { workspaceId } = await hosted();
    const move = createMove(workspaceId);
    await moves.begin({ ...move, to: third });
    await moves.begin(move);

    expect(await moves.complete({ ...move, to: third })).toBe(false);
    expect(await moves.complete(move)).toBe(true);
    expect(await moves.begin({ ...move, to: third })).toBe(false);
    expect(await findHost(workspaceId)).toBe(other);
  });

  it('is not moved after the move was cancelled', async () => {
    const { workspaceId } = await hosted();
    const move = createMove(workspaceId);
    await moves.begin(move);

    await moves.cancel(move);

    expect(await moves.complete(move)).toBe(false);
  });
});

describe('an executor that asks what it hosts', () => {
  it('learns what was moved and deleted, and nothing of what it is about to host', async () => {
    const [moved, pending] = [await hosted(), await hosted()];
    const never = threadId.parse('thr_never');
    const asked = [moved.workspaceId, pending.workspaceId, never];
    await moves.begin(createMove(moved.workspaceId));
    await moves.complete(createMove(moved.workspaceId));
    await moves.begin(createMove(pending.workspaceId));

    expect(await moves.readHosting(other, asked)).toMatchObject({ deleted: [never], moved: [] });
    expect(await moves.readHosting(third, asked)).toMatchObject({
      deleted: [never],
      moved: [moved.workspaceId, pending.workspaceId],
    });
    expect(await moves.readHosting(lost, asked)).toMatchObject({ deleted: [never], moved: [moved.workspaceId] });
  });

  it('learns which it has hosted since before the time that it asks about', async () => {
    const { workspaceId } = await hosted();
    const old = async (executor: string, before: string) =>
      (await moves.readHosting(executor, [workspaceId], before)).hostedBefore;

    expect(await old(lost, '2100-01-01T00:00:00.000Z')).toEqual([workspaceId]);
    expect(await old(other, '2100-01-01T00:00:00.000Z')).toEqual([]);
    expect(await old(lost, '2026-01-01T00:00:00.000Z')).toEqual([]);
    const { at } = await moves.readHosting(lost, []);
    expect(await old(lost, String(at))).toEqual([workspaceId]); // the same clock says both
  });

  it('hosts a workspace that no row names, for example after a restored backup', async () => {
    const { workspaceId } = await fixture.claimed();

    expect(await moves.readHosting(lost, [workspaceId])).toMatchObject({ deleted: [], moved: [] });
  });
});
