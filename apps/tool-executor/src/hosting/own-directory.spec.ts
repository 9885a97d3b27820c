import { type FileHandle, mkdir, mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { requireOwnDirectory } from './own-directory';

describe('the directory of workspaces', () => {
  let root: string;
  beforeEach(async () => (root = await mkdtemp(join(tmpdir(), 'own-directory-'))));
  afterEach(() => rm(root, { recursive: true }));

  it('is the first executor’s, also after its restart, and no other’s', async () => {
    const workspaces = join(root, 'workspaces');

    await requireOwnDirectory(workspaces, 'exe_1');
    await requireOwnDirectory(workspaces, 'exe_1');

    await expect(requireOwnDirectory(workspaces, 'exe_2')).rejects.toThrow('belongs to executor exe_1');
  });

  it('remembers when it was empty, by the clock of a worker', async () => {
    const told = '2031-05-01T00:00:10.000Z';
    const directory = await requireOwnDirectory(root, 'exe_1');
    expect(directory.madeAt).toBeUndefined();

    await directory.learnTime(told);

    const { madeAt } = directory;
    expect(madeAt && madeAt <= told && madeAt > '2031-05-01T00:00:00.000Z').toBe(true);
    await directory.learnTime('2032-01-01T00:00:00.000Z');
    await mkdir(join(root, 'thr_1'));
    expect(await requireOwnDirectory(root, 'exe_1')).toMatchObject({ madeAt });
  });

  it('was empty when it was found, not when a worker said so', async () => {
    const directory = await requireOwnDirectory(root, 'exe_1');
    const [minute, { now }] = [60_000, performance];
    jest.spyOn(performance, 'now').mockImplementation(() => now.call(performance) + minute);

    await directory.learnTime('2031-05-01T00:01:00.000Z');

    jest.restoreAllMocks();
    expect(directory.madeAt && directory.madeAt <= '2031-05-01T00:00:00.000Z').toBe(true);
  });

  it('goes by this machine’s clock where a worker of an older version says no time, until another says it', async () => {
    const before = new Date().toISOString();
    const directory = await requireOwnDirectory(root, 'exe_1');

    await directory.learnTime(undefined);

    expect(directory.madeAt && directory.madeAt >= before).toBe(true);
    expect((await requireOwnDirectory(root, 'exe_1')).madeAt).toBeUndefined();
  });

  it('does not know when it was empty where it had workspaces before', async () => {
    await mkdir(join(root, 'thr_1'));

    expect(await requireOwnDirectory(root, 'exe_1')).toMatchObject({ madeAt: null });
  });

  it('is marked at the next start where the disk was full at the first', async () => {
    const full = new Error('ENOSPC: no space left on device, write');
    const written = await open(join(root, 'other'), 'w');
    const writing = jest.spyOn(Object.getPrototypeOf(written) as FileHandle, 'writeFile').mockRejectedValueOnce(full);
    await written.close();

    await expect(requireOwnDirectory(root, 'exe_1')).rejects.toThrow(full);
    writing.mockRestore();

    expect((await requireOwnDirectory(root, 'exe_1')).madeAt).toBeUndefined();
  });

  it('is refused, with the file named, where a power cut has torn its mark', async () => {
    await writeFile(join(root, '.executor'), '');

    await expect(requireOwnDirectory(root, 'exe_1')).rejects.toThrow(`${join(root, '.executor')} does not say`);
  });
});
