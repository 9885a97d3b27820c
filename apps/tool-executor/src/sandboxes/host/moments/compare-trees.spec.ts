import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compareTrees } from './compare-trees';
import { MomentStore } from './moment-store';
import type { TreeEntry } from './tree-entry';

describe('compareTrees', () => {
  let directory: string;
  let store: MomentStore;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'compare-trees-'));
    store = new MomentStore(directory, 1_000_000);
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  const content = '0'.repeat(64);
  const file = (name: string, more: object = {}): TreeEntry => ({
    ...{ name, kind: 'file', mode: 0o644, changed: 1, size: 1, content },
    ...more,
  });
  const link = (name: string, target: string): TreeEntry => ({ name, kind: 'link', target });
  const folder = (name: string, entries: TreeEntry[], mode = 0o755): TreeEntry => ({
    ...{ name, kind: 'directory', mode, tree: store.keepTree(entries) },
  });
  const compare = (from: TreeEntry[], to: TreeEntry[]) =>
    compareTrees(store, { from: store.keepTree(from), to: store.keepTree(to) });

  it('tells what a return creates, changes and removes, below folders, too', () => {
    const from = [file('a'), file('b'), folder('d', [file('x'), link('y', 'x')]), folder('e', [file('z')], 0o700)];
    const to = [file('a'), file('b', { mode: 0o755 }), file('c'), folder('e', [file('z', { size: 2 })])];

    expect(compare(from, to)).toEqual({
      created: { count: 1, paths: ['c'] },
      changed: { count: 3, paths: ['b', 'e', 'e/z'] },
      removed: { count: 3, paths: ['d', 'd/x', 'd/y'] },
    });
  });

  it('takes what becomes something else for another thing, and a time for no change', () => {
    expect(compare([file('a'), file('b')], [link('a', 'b'), file('b', { changed: 2 })])).toEqual({
      created: { count: 1, paths: ['a'] },
      changed: { count: 0, paths: [] },
      removed: { count: 1, paths: ['a'] },
    });
  });

  it('lists the first ones, and counts all', () => {
    const many = Array.from({ length: 250 }, (_, index) => file(`${index}`.padStart(3, '0')));
    const long = Array.from({ length: 250 }, (_, index) => file(`${'x'.repeat(240)}${index}`));

    expect(compare([], many).created).toMatchObject({ count: 250, paths: { length: 100 } });
    const { count, paths } = compare(long, []).removed;
    expect(count).toBe(250);
    expect(paths.join('').length).toBeLessThanOrEqual(8_000);
  });
});
