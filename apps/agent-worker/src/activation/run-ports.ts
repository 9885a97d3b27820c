import type { AgentPorts, ClaimedRun } from '@rondo/domain';
import type { AccountBudgets } from './account-budgets';
import type { AccountReservations, CallJournal } from './account-reservations';

/** The ports that all runs of a worker share. */
export interface RunPortsParts extends Pick<
  AgentPorts,
  'tokens' | 'budgetOf' | 'factsOf' | 'ids' | 'clock' | 'honoursKeys' | 'leastInputPrice'
> {
  readonly accountBudgets?: AccountBudgets;
  readonly reservations?: AccountReservations | undefined;
}

interface HeldRun {
  readonly claim: ClaimedRun;
  readonly journal: CallJournal;
  /** The run is let go of. */
  readonly abandon: AbortSignal;
}

/** The ports of one run. */
export function portsOf(
  { accountBudgets, reservations, tokens, budgetOf, factsOf, ids, clock, honoursKeys, leastInputPrice }: RunPortsParts,
  {
    claim,
    journal,
    abandon,
    ...own
  }: Pick<AgentPorts, 'model' | 'tools' | 'archive' | 'children' | 'treeBudget'> & HeldRun,
): AgentPorts {
  const accountIsSpent = accountBudgets?.of(claim.runId);
  const reserve = reservations?.of(claim, { journal, abandon });
  return { ...own, tokens, budgetOf, factsOf, ids, clock, honoursKeys, leastInputPrice, accountIsSpent, reserve };
}
