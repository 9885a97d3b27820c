import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Workspaces } from './workspaces';

describe('Workspaces', () => {
  let root: string;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'workspaces-spec-'));
  });
  afterEach(() => rm(root, { recursive: true }));

  it('gives a thread one user, also when it is opened twice at the same time', async () => {
    const firstUid = process.getuid?.() ?? 0; // to ourselves we may always give something
    const workspaces = new Workspaces({ root, firstUid, uidCount: 2 }, true);
    const taken = await Promise.all(['thr_1', 'thr_1', 'thr_1'].map((id) => workspaces.open(id).catch(String)));

    expect(new Set(taken.map((workspace) => JSON.stringify(workspace))).size).toBe(1);
    expect(await workspaces.open('thr_1')).toEqual(taken[0]);
  });
});
