import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readChecksum } from './checksums';
import { FolderSnapshots } from './folder-snapshots';
import { SnapshotDamaged } from './snapshot-store';
import { describeSnapshotStore } from './testing/snapshot-store.contract';

const newFolder = () => mkdtemp(join(tmpdir(), 'folder-snapshots-'));

describeSnapshotStore('folder', async () => {
  const root = await newFolder();
  return {
    store: new FolderSnapshots(root),
    damage: async ({ threadId, executorId }, how) => {
      const file = join(root, threadId, `${executorId}.copy`);
      const content = await readFile(file);
      content[5_000] = (content[5_000] ?? 0) ^ 1;
      await writeFile(file, how === 'cut' ? content.subarray(0, -1) : content);
    },
    close: () => rm(root, { recursive: true }),
  };
});

describe('FolderSnapshots', () => {
  const key = { threadId: 'thr_1', executorId: 'exe_1' };
  let root: string;
  let store: FolderSnapshots;
  beforeEach(async () => {
    root = await newFolder();
    store = new FolderSnapshots(root);
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  const save = async (content: string, executorId = 'exe_1') => {
    const file = join(root, 'given');
    await writeFile(file, content);
    const info = { takenAt: new Date().toISOString(), labels: {}, ...(await readChecksum(file)) };
    await store.save({ ...key, executorId }, { file, info });
  };

  it('leave nothing of earlier copies, nor of an executor that was killed while it wrote', async () => {
    await save('one');
    await save('another', 'exe_2');
    await writeFile(join(root, 'thr_1', 'exe_1.killed.draft'), 'half');

    await save('two');

    expect((await readdir(join(root, 'thr_1'))).sort()).toEqual(['exe_1.copy', 'exe_2.copy']);
  });

  it('refuse what is known of a copy where it is torn', async () => {
    await save('one');
    await writeFile(join(root, 'thr_1', 'exe_1.copy'), '{"takenAt":');

    await expect(store.fetch(key, join(root, 'into'))).rejects.toThrow(SnapshotDamaged);
  });

  it('report a volume that is not mounted instead of writing beside it, or taking every copy as missing', async () => {
    await save('one');
    const away = new FolderSnapshots(join(root, 'away'));
    const file = join(root, 'given');
    const info = { takenAt: new Date().toISOString(), labels: {}, ...(await readChecksum(file)) };

    await expect(away.save(key, { file, info })).rejects.toThrow('ENOENT');
    await expect(away.fetch(key, join(root, 'into'))).rejects.toThrow('ENOENT');
    expect(await readdir(root)).not.toContain('away');
  });

  it('refuse a thread that would name another directory', async () => {
    await expect(store.fetch({ ...key, threadId: '../thr_1' }, join(root, 'into'))).rejects.toThrow('thread id');
    await expect(store.remove('..')).rejects.toThrow('thread id');
  });
});
