import type { AgentSort } from '@rondo/client';

export const agentSorts: readonly (readonly [AgentSort, string])[] = [
  ['created_at', 'newest first'],
  ['updated_at', 'last changed first'],
  ['name', 'by name'],
];

/** What the list shows, as the address has it: a link shows the same. */
export interface AgentsSearch {
  readonly tag?: string;
  readonly sort?: AgentSort;
}

export function readAgentsSearch({ tag, sort }: Record<string, unknown>): AgentsSearch {
  const known = agentSorts.find(([candidate]) => candidate === sort)?.[0];
  return {
    ...(typeof tag === 'string' && tag !== '' && { tag }),
    ...(known && known !== 'created_at' && { sort: known }),
  };
}
