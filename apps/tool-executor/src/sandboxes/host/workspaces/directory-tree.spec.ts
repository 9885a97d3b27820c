import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { removeTree } from './directory-tree';

const unprivilegedUid = 65_534;

describe('removeTree', () => {
  let directory: string;
  beforeEach(async () => {
    if (process.getuid?.() === 0) process.seteuid?.(unprivilegedUid); // Root ignores permissions, so the test runs as another user.
    directory = await mkdtemp(join(tmpdir(), 'remove-tree-'));
  });
  afterEach(async () => {
    process.seteuid?.(process.getuid?.() ?? unprivilegedUid);
    await rm(directory, { recursive: true, force: true });
  });

  it('deletes directories that may not be written, entered or read', async () => {
    for (const mode of [0o000, 0o500, 0o600]) {
      const closed = join(directory, 'tree', `deep-${mode}`);
      await mkdir(join(closed, 'deeper'), { recursive: true });
      await writeFile(join(closed, 'deeper', 'file'), 'x');
      await chmod(join(closed, 'deeper'), mode);
      await chmod(closed, mode);
    }

    await removeTree(join(directory, 'tree'));

    expect(await readdir(directory)).toEqual([]);
  });

  it('deletes files whose path is longer than system calls take', async () => {
    const dig = 'mkdir tree; cd tree; i=0; while [ $i -lt 30 ]; do i=$((i + 1)); mkdir "$1"; cd -P "$1"; done';
    await promisify(execFile)('bash', ['-pec', dig, 'bash', 'd'.repeat(200)], { cwd: directory });

    await removeTree(join(directory, 'tree'));

    expect(await readdir(directory)).toEqual([]);
  });

  it('follows no link', async () => {
    await mkdir(join(directory, 'tree'));
    await writeFile(join(directory, 'kept'), 'x');
    await symlink(directory, join(directory, 'tree', 'link'));

    await removeTree(join(directory, 'tree'));

    expect(await readdir(directory)).toEqual(['kept']);
  });

  it('does nothing when the directory does not exist', async () => {
    await expect(removeTree(join(directory, 'tree'))).resolves.toBeUndefined();
  });
});
