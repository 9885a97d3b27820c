import fs, { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const { Files } = createRequire(__filename)('./in-sandbox/files.cjs') as {
  Files: new (about: object) => {
    list(asked: object): Promise<{ entries: readonly { path: string }[]; truncated: boolean }>;
    read(asked: object): Promise<object>;
    delete(asked: object): Promise<object>;
  };
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

describe('a list of files', () => {
  let root: string;
  const list = (depth = 3) => new Files({}).list({ path: root, depth, exclude: [], maxEntries: 2_000 });

  beforeEach(async () => (root = await mkdtemp(join(tmpdir(), 'list-files-'))));
  afterEach(async () => {
    jest.restoreAllMocks();
    await rm(root, { recursive: true, force: true });
  });

  it('has everything but what is in a folder that may not be read, and says so of it', async () => {
    await mkdir(join(root, 'a/closed/deeper'), { recursive: true });
    await mkdir(join(root, 'b/deeper'), { recursive: true });
    const { opendir } = fs;
    jest.spyOn(fs, 'opendir').mockImplementation((path, ...options) => {
      if (!String(path).endsWith('closed')) return opendir(path, ...options);
      return Promise.reject(Object.assign(new Error('permission denied'), { code: 'EACCES' }));
    });

    const found = (await list()).entries.toSorted((one, other) => (one.path < other.path ? -1 : 1));

    expect(found).toMatchObject([
      { path: 'a' },
      { path: 'a/closed', kind: 'directory', unreadable: true },
      { path: 'b' },
      { path: 'b/deeper' },
    ]);
    expect(found.filter((entry) => 'unreadable' in entry)).toHaveLength(1);
    await expect(new Files({}).list({ path: join(root, 'a/closed'), depth: 1 })).rejects.toMatchObject({
      code: 'EACCES',
    });
  });

  it('has files whose names are no UTF-8, and a request that names one says what to do', async () => {
    const folder = Buffer.from(`${root}/caf\xe9`, 'latin1');
    await mkdir(folder);
    await writeFile(Buffer.concat([folder, Buffer.from('/in')]), 'x');

    const shown = join(root, 'caf\ufffd');

    expect((await list()).entries).toMatchObject([
      { path: 'caf\ufffd', kind: 'directory' },
      { path: 'caf\ufffd/in', kind: 'file', size: 1 },
    ]);
    const refusal = { code: 'invalid_path', message: expect.stringContaining('rename it with a command') };
    await expect(new Files({}).read({ path: join(shown, 'in'), maxBytes: 1 })).rejects.toMatchObject(refusal);
    await expect(new Files({}).delete({ path: shown, recursive: true })).rejects.toMatchObject(refusal);
  });

  it('is cut where it would be too long for a message', async () => {
    const [outer, inner] = ['é'.repeat(120), 'ü'.repeat(120)];
    await mkdir(join(root, outer, inner, outer), { recursive: true });
    const names = Array.from({ length: 1_500 }, (_, index) => join(root, outer, inner, outer, `${index}`));
    await Promise.all(names.map((name) => mkdir(name)));

    const { entries, truncated } = await list(5);

    expect(truncated).toBe(true);
    expect(Buffer.byteLength(JSON.stringify(entries))).toBeLessThan(1024 * 1024);
    expect(entries.length).toBeGreaterThan(900);
  });
});
