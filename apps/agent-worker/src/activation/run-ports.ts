import type { RunId } from '@rondo/contract';
import type { AgentPorts } from '@rondo/domain';
import type { AccountBudgets } from './account-budgets';

/** The ports that all runs of a worker share. */
export interface RunPortsParts extends Pick<
  AgentPorts,
  'tokens' | 'budgetOf' | 'ids' | 'clock' | 'honoursKeys' | 'leastInputPrice'
> {
  readonly accountBudgets?: AccountBudgets;
}

/** The ports of one run. */
export function portsOf(
  { tokens, budgetOf, ids, clock, honoursKeys, leastInputPrice, accountBudgets }: RunPortsParts,
  runId: RunId,
  own: Pick<AgentPorts, 'model' | 'tools' | 'archive' | 'children' | 'treeBudget'>,
): AgentPorts {
  const accountIsSpent = accountBudgets?.of(runId);
  return { ...own, tokens, budgetOf, ids, clock, honoursKeys, leastInputPrice, accountIsSpent };
}
