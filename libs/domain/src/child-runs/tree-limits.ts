import type { RunSettings } from '@rondo/contract';

/** Where a run stands in its tree, and what is below it. */
export interface TreePlace {
  /** 0 for the first run of the tree. */
  readonly depth: number;
  /** All runs below the first one, also those that are over. */
  readonly treeRuns: number;
  /** Its child runs that are not over. */
  readonly activeChildren: number;
}

type Limits = RunSettings['limits'];

/** Why the run may not start another one; undefined if it may. `root` are the limits of the first run of the tree. */
export function treeRefusal({ root, own }: { root: Limits; own: Limits }, place: TreePlace): string | undefined {
  const { max_run_depth: depth = 3, max_tree_runs: runs = 50 } = root;
  const { max_active_children: children = 10 } = own;
  if (place.depth >= depth)
    return `Runs may be nested ${depth} deep, and this one is at that depth: do the task yourself.`;
  if (place.treeRuns >= runs) return `All runs of this task may start ${runs} others together, and they have.`;
  if (place.activeChildren >= children)
    return `This run may have ${children} other runs at work at the same time, and it has. Call again when one has answered.`;
  return undefined;
}
