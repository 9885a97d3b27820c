import { type NewFact, type Run, isTerminal } from '@rondo/contract';

/** What the budget is raised to. */
export interface BudgetRaise {
  readonly usd?: number | undefined;
  readonly tokens?: number | undefined;
}

type Budget = Run['settings']['budget'];

type Raised =
  | { readonly budget: Budget; readonly facts: readonly NewFact[] }
  | { readonly code: 'run_over' | 'invalid_request'; readonly problem: string };

const units = ['usd', 'tokens'] as const;

/** The new budget of a run, and the facts of it; none where nothing changes. A budget is raised, never lowered. */
export function raiseBudget(run: Run, raise: BudgetRaise, raisedBy: string): Raised {
  const { settings, status, iteration } = run;
  if (isTerminal(status) || run.stop_requested_at !== null)
    return { code: 'run_over', problem: `${run.id} is ${status}: its budget can no longer be raised.` };

  const newUnits = units.filter((unit) => raise[unit] !== undefined);
  const problem = newUnits.map((unit) => findProblem(settings.budget[unit], raise[unit] ?? 0, unit)).find(Boolean);
  if (problem !== undefined) return { code: 'invalid_request', problem };

  const budget = { ...settings.budget, ...Object.fromEntries(newUnits.map((unit) => [unit, raise[unit]])) };
  const { usd, tokens } = budget;
  const data = { ...(usd !== undefined && { usd }), ...(tokens !== undefined && { tokens }), raised_by: raisedBy };
  const raiseFact: NewFact = { type: 'budget.raised', iteration, data };
  const resumption: NewFact = { type: 'run.resumed', iteration, data: { reason: 'budget' } };
  const isRaised = newUnits.some((unit) => budget[unit] !== settings.budget[unit]);
  return {
    budget,
    facts: [...(isRaised ? [raiseFact] : []), ...(isRaised && status === 'waiting_budget' ? [resumption] : [])],
  };
}

function findProblem(current: number | undefined, next: number, unit: (typeof units)[number]): string | undefined {
  if (current === undefined) return `The run has no budget in ${unit}, so it cannot be raised.`;
  return next < current ? `A budget is only raised: ${unit} is ${current}.` : undefined;
}
