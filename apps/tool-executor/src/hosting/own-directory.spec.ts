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

  it('remembers when it was empty', async () => {
    const before = new Date().toISOString();

    const { madeAt } = await requireOwnDirectory(root, 'exe_1');

    expect(madeAt && madeAt >= before).toBe(true);
    await mkdir(join(root, 'thr_1'));
    expect(await requireOwnDirectory(root, 'exe_1')).toEqual({ madeAt });
  });

  it('does not know when it was empty where it had workspaces before', async () => {
    await mkdir(join(root, 'thr_1'));

    expect(await requireOwnDirectory(root, 'exe_1')).toEqual({ madeAt: null });
  });

  it('is marked at the next start where the disk was full at the first', async () => {
    const full = new Error('ENOSPC: no space left on device, write');
    const written = await open(join(root, 'other'), 'w');
    const writing = jest.spyOn(Object.getPrototypeOf(written) as FileHandle, 'writeFile').mockRejectedValueOnce(full);
    await written.close();

    await expect(requireOwnDirectory(root, 'exe_1')).rejects.toThrow(full);
    writing.mockRestore();

    await expect(requireOwnDirectory(root, 'exe_1')).resolves.toMatchObject({ madeAt: expect.any(String) });
  });

  it('is refused, with the file named, where a power cut has torn its mark', async () => {
    await writeFile(join(root, '.executor'), '');

    await expect(requireOwnDirectory(root, 'exe_1')).rejects.toThrow(`${join(root, '.executor')} does not say`);
  });
});
