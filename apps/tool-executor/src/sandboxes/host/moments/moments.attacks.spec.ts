import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { lstatSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { scanWorkspace } from './scan-workspace';
import { MomentStore } from './moment-store';
import { bringBack } from './bring-back';
import { toStored } from './tree-entry';

const mebibyte = 1024 * 1024;

describe('attack: states of a workspace', () => {
  let home: string;
  let workspace: string;
  let store: MomentStore;
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'moment-attacks-'));
    workspace = join(home, 'workspace');
    mkdirSync(workspace);
    mkdirSync(join(home, 'outside'));
    writeFileSync(join(home, 'outside', 'secret'), 'of the host');
    store = new MomentStore(join(home, 'moments'), 64 * mebibyte);
  });
  afterEach(() => rmSync(home, { recursive: true, force: true }));

  const scan = async () => (await scanWorkspace(workspace, { store, seen: new Map(), maxEntries: 10_000 })).tree;
  const kept = () => execFileSync('grep', ['-rc', 'of the host', join(home, 'moments')], { encoding: 'utf8' });

  it('links that lead out of the workspace are kept as links, and nothing behind them', async () => {
    symlinkSync(join(home, 'outside'), join(workspace, 'folder'));
    symlinkSync(join(home, 'outside', 'secret'), join(workspace, 'file'));
    const tree = await scan();

    expect(store.readTree(tree).map(({ kind }) => kind)).toEqual(['link', 'link']);
    expect(() => kept()).toThrow(); // grep finds nothing
  });

  it('a folder that becomes a link to the host while a moment is kept or brought back', async () => {
    const inside = join(workspace, 'folder');
    const fill = () => {
      mkdirSync(inside);
      for (let file = 0; file < 50; file += 1)
        writeFileSync(join(inside, file === 0 ? 'secret' : `${file}`), 'harmless');
    };
    fill();
    const full = await scan();
    rmSync(inside, { recursive: true });
    const empty = await scan();
    const flip = setInterval(() => {
      if (existsSync(inside) && !lstatSync(inside).isSymbolicLink()) {
        renameSync(inside, `${inside}-${Math.random()}`);
        symlinkSync(join(home, 'outside'), inside);
      }
    }, 0);
    try {
      for (let round = 0; round < 20; round += 1) {
        rmSync(inside, { recursive: true, force: true });
        await bringBack(workspace, { store, from: empty, to: full, seen: new Map() }).catch(() => undefined);
        rmSync(inside, { recursive: true, force: true });
        fill();
        await scan();
      }
    } finally {
      clearInterval(flip);
    }
    expect(readFileSync(join(home, 'outside', 'secret'), 'utf8')).toBe('of the host');
    expect(() => kept()).toThrow();
  });

  it('a FIFO without a writer does not make it wait', async () => {
    execFileSync('mkfifo', [join(workspace, 'pipe')]);
    writeFileSync(join(workspace, 'file'), '');
    await expect(scan().then((tree) => store.readTree(tree))).resolves.toMatchObject([{ name: 'file' }]);
  });

  it('a file that is almost nothing but a hole takes no space', async () => {
    writeFileSync(join(workspace, 'sparse'), 'x');
    truncateSync(join(workspace, 'sparse'), 200 * mebibyte);
    const full = await scan();
    rmSync(join(workspace, 'sparse'));
    await bringBack(workspace, { store, from: await scan(), to: full, seen: new Map() });

    const { size, blocks } = lstatSync(join(workspace, 'sparse'));
    expect(size).toBe(200 * mebibyte);
    expect(blocks * 512).toBeLessThan(2 * mebibyte);
  });

  it('more files than are kept, folders without end, and more content than there is space for are refused', async () => {
    mkdirSync(join(workspace, 'many'));
    for (let file = 0; file < 10_001; file += 1) writeFileSync(join(workspace, 'many', `${file}`), '');
    await expect(scan()).rejects.toThrow('more than 10000 files');
    rmSync(join(workspace, 'many'), { recursive: true });

    mkdirSync(join(workspace, 'd/'.repeat(400)), { recursive: true });
    await expect(scan()).rejects.toThrow('nested deeper than 256');
    rmSync(join(workspace, 'd'), { recursive: true });

    writeFileSync(join(workspace, 'large'), Buffer.alloc(65 * mebibyte, 1));
    await expect(scan()).rejects.toThrow('takes more than 64 MiB');
  });

  it.each([
    ['alone', ['file'], 1],
    ['with others', ['file', 'other'], 1],
    ['alone, and is long', ['file'], 50_000],
  ])('content that was changed in the store, where it lies %s, is not brought back', async (_, names, times) => {
    for (const name of names) writeFileSync(join(workspace, name), `content of ${name}`.repeat(times));
    const full = await scan();
    const [entry] = store.readTree(full);
    for (const name of names) rmSync(join(workspace, name));
    const empty = await scan();
    const content = entry?.kind === 'file' ? toStored(entry) : '';
    const blob = join(home, 'moments', 'blobs', content.slice(0, 2), content);
    chmodSync(blob, 0o600);
    writeFileSync(blob, 'forged! content'.repeat(times), { flag: 'r+' });

    await expect(bringBack(workspace, { store, from: empty, to: full, seen: new Map() })).rejects.toThrow('damaged');
    expect(existsSync(join(workspace, 'file'))).toBe(false);
  });
});
