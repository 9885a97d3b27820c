import fs, { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const { Files } = createRequire(__filename)('./in-sandbox/files.cjs') as {
  Files: new (about: object) => { list(asked: object): Promise<{ entries: readonly { path: string }[] }> };
};

describe('a list of files that a program changes meanwhile', () => {
  let root: string;
  const list = () => new Files({}).list({ path: root, depth: 3, exclude: [], maxEntries: 100 });

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'list-files-'));
    await mkdir(join(root, 'gone/deeper'), { recursive: true });
    await mkdir(join(root, 'kept/deeper'), { recursive: true });
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await rm(root, { recursive: true, force: true });
  });

  it('goes on where a folder is gone that it has found', async () => {
    const { opendir } = fs;
    jest.spyOn(fs, 'opendir').mockImplementation(async (path, ...options) => {
      if (String(path).endsWith('gone')) await rm(String(path), { recursive: true });
      return opendir(path, ...options);
    });

    const found = (await list()).entries.map(({ path }) => path).sort();

    expect(found).toEqual(['gone', 'kept', 'kept/deeper']);
  });

  it('fails where the folder itself is gone', async () => {
    await rm(root, { recursive: true });

    await expect(list()).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
