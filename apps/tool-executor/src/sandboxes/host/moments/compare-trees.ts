import type { FileChanges } from '@rondo/contract';
import { type Name, toShown } from './beneath';
import type { MomentStore } from './moment-store';
import { type TreeEntry, placeInTree, toIdentity } from './tree-entry';

/** Of each list. Counts are not bounded. */
const longestList = { paths: 100, characters: 8_000 };

/** What is different in `to`. Times of files alone are no difference. */
export function compareTrees(
  store: MomentStore,
  { from, to }: { readonly from: string; readonly to: string },
): FileChanges {
  const none = () => ({ count: 0, paths: [] });
  const changes: FileChanges = { created: none(), changed: none(), removed: none() };
  const note = (kind: keyof FileChanges, path: Name) => {
    changes[kind].count += 1;
    const { paths } = changes[kind];
    const characters = paths.reduce((sum, { length }) => sum + length, path.length);
    if (paths.length < longestList.paths && characters <= longestList.characters) paths.push(toShown(path));
  };
  const all = (entry: TreeEntry, path: Name, kind: keyof FileChanges): void => {
    note(kind, path);
    if (entry.kind !== 'directory') return;
    for (const inner of store.readTree(entry.tree)) all(inner, placeInTree(path, inner.name), kind);
  };
  const compare = (before: string, after: string, path: Name): void => {
    if (before === after) return;
    const present = new Map(store.readTree(before).map((entry) => [entry.name, entry]));
    for (const entry of store.readTree(after)) {
      const at = placeInTree(path, entry.name);
      const was = present.get(entry.name);
      present.delete(entry.name);
      if (!was) all(entry, at, 'created');
      else if (was.kind === 'directory' && entry.kind === 'directory') {
        if (was.mode !== entry.mode) note('changed', at);
        compare(was.tree, entry.tree, at);
      } else if (was.kind !== entry.kind) {
        all(was, at, 'removed');
        all(entry, at, 'created');
      } else if (toIdentity(was, { withTime: false }) !== toIdentity(entry, { withTime: false })) note('changed', at);
    }
    for (const [name, entry] of present) all(entry, placeInTree(path, name), 'removed');
  };
  compare(from, to, '');
  return changes;
}
