import { createHash } from 'node:crypto';
import type { RecordedFact, RunSettings } from '@rondo/contract';
import {
  type ToolNeed,
  type ToolSet,
  availableTools,
  toSnapshot,
  toolNeeds,
  toToolSet,
  tools as catalog,
} from '@rondo/domain';
import { canonicalJson } from '../json-object';

/** The tools of this version that a run is offered where its executors lack these. */
export const toTools = (settings: RunSettings, lacks: readonly ToolNeed[]): ToolSet =>
  toToolSet(settings, availableTools(catalog, Object.fromEntries(lacks.map((need) => [need, 'lacked']))));

/**
 * What the executors of a run lacked: the log has the hash of its tools, and only few sets are possible. Undefined if none of
 * them has that hash, because the run was of another version.
 */
export function findLacks(settings: RunSettings, facts: readonly RecordedFact[]): readonly ToolNeed[] | undefined {
  const started = facts.find(({ type }) => type === 'run.started');
  const hash = started?.type === 'run.started' ? started.data.tool_set : undefined;
  if (hash === undefined) return [];
  return listSubsets(toolNeeds).find((lacks) => toHash(toTools(settings, lacks)) === hash);
}

/** As runs name the sets that no account has for itself. */
const toHash = (set: ToolSet): string =>
  createHash('sha256')
    .update(canonicalJson({ account_id: null, ...toSnapshot(set) }))
    .digest('hex');

/** The smallest first: mostly nothing or little is lacked. */
const listSubsets = <T>(all: readonly T[]): T[][] =>
  all
    .reduce<T[][]>((subsets, one) => [...subsets, ...subsets.map((subset) => [...subset, one])], [[]])
    .sort((a, b) => a.length - b.length);
