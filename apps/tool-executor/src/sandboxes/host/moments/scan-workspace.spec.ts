import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { linkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bringBack } from './bring-back';
import { MomentStore } from './moment-store';
import { type SeenFiles, scanWorkspace } from './scan-workspace';
import type { FileEntry } from './tree-entry';

const folders = ['one', 'two'];

describe('the state of a workspace with short files', () => {
  let home: string;
  let workspace: string;
  let store: MomentStore;
  let seen: SeenFiles;
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'scan-workspace-'));
    workspace = join(home, 'workspace');
    mkdirSync(workspace);
    openStore();
  });
  afterEach(() => rmSync(home, { recursive: true }));

  function openStore(): void {
    store = new MomentStore(join(home, 'moments'), Infinity);
    seen = new Map();
  }
  /** Another process knows of no file that it has seen. */
  function restart(): void {
    store.settle();
    openStore();
  }
  async function scan(): Promise<string> {
    const scanned = await scanWorkspace(workspace, { store, seen, maxEntries: 10_000 });
    ({ seen } = scanned);
    return scanned.tree;
  }
  async function back(to: string): Promise<void> {
    await bringBack(workspace, { store, from: await scan(), to, seen });
    expect(await scan()).toBe(to);
  }
  const fill = (text: string) =>
    folders.forEach((folder) => {
      mkdirSync(join(workspace, folder), { recursive: true });
      for (let file = 0; file < 200; file += 1) {
        writeFileSync(join(workspace, folder, `${file}`), `${text} ${file}`);
        utimesSync(join(workspace, folder, `${file}`), 1_000, 1_000);
      }
    });
  const show = () =>
    folders.map((folder) =>
      readdirSync(join(workspace, folder)).map((name) => [name, readFileSync(join(workspace, folder, name), 'utf8')]),
    );
  const listStored = () =>
    readdirSync(join(home, 'moments', 'blobs'), { recursive: true, withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    );

  it('has few contents, and is not written again where it is found as it was', async () => {
    fill('first');
    const first = await scan();
    expect(listStored()).toHaveLength(3); // the root, the list of both folders, and what is in both
    restart();
    expect(await scan()).toBe(first);
    expect(listStored()).toHaveLength(3);
  });

  it('comes back wherever its files lie', async () => {
    fill('first');
    const first = await scan();
    const then = show();
    writeFileSync(join(workspace, 'one', '7'), 'changed');
    const second = await scan();
    restart();
    writeFileSync(join(workspace, 'two', 'more'), 'since');
    await scan(); // what is in this folder lies elsewhere now, too

    await back(first);
    expect(show()).toEqual(then);
    await back(second);
    expect(readFileSync(join(workspace, 'one', '7'), 'utf8')).toBe('changed');
    fill('otherwise');
    restart();
    await back(first);
    expect(show()).toEqual(then);
  });

  it('comes back with links between its files', async () => {
    fill('first');
    linkSync(join(workspace, 'one', '7'), join(workspace, 'two', 'link'));
    const first = await scan();
    rmSync(join(workspace, 'one'), { recursive: true });
    rmSync(join(workspace, 'two'), { recursive: true });

    await back(first);
    writeFileSync(join(workspace, 'one', '7'), 'through the link');
    expect(readFileSync(join(workspace, 'two', 'link'), 'utf8')).toBe('through the link');
  });

  it('fills another workspace that has some of it', async () => {
    fill('first');
    const first = await scan();
    const fork = new MomentStore(join(home, 'fork'), Infinity);
    await fork.adopt(store, first);
    writeFileSync(join(workspace, 'one', '7'), 'changed');
    const second = await scan();
    await fork.adopt(store, second);
    const into = join(home, 'workspace-of-fork');
    mkdirSync(into);
    const { tree: empty } = await scanWorkspace(into, { store: fork, seen: new Map(), maxEntries: 1 });
    rmSync(join(home, 'moments'), { recursive: true });

    await bringBack(into, { store: fork, from: empty, to: second, seen: new Map() });
    expect(readFileSync(join(into, 'one', '7'), 'utf8')).toBe('changed');
    expect(readFileSync(join(into, 'two', '7'), 'utf8')).toBe('first 7');
  });

  it('comes back where an earlier version has kept it, each file alone', async () => {
    const entries = ['a', 'b'].map((name): FileEntry => {
      const content = store.keepBytes(Buffer.from(`of ${name}`));
      return { name, kind: 'file', mode: 0o644, changed: 1_000, content, size: 4 };
    });
    const first = store.keepTree(entries);
    ['a', 'b', 'c'].forEach((name) => writeFileSync(join(workspace, name), 'now'));

    await back(first);
    expect(readdirSync(workspace).map((name) => readFileSync(join(workspace, name), 'utf8'))).toEqual(['of a', 'of b']);
  });
});
