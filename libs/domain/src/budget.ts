import { weigh } from './context/compress';
import type { Pass } from './pass';
import { type Usage, addUsage } from './run';
import type { RunSettings } from './run-settings';

type Budget = RunSettings['budget'];

/** A budget that is used up. Money counts as far as prices are known. */
export const isUsedUp = ({ usd, tokens }: Budget, spent: Usage): boolean =>
  (usd !== undefined && (spent.cost_usd ?? 0) >= usd) || (tokens !== undefined && tokensOf(spent) >= tokens);

const tokensOf = ({ input_tokens, output_tokens }: Usage): number => input_tokens + output_tokens;

export const isSpent = ({ state, run }: Pick<Pass, 'state' | 'run'>): boolean =>
  isUsedUp(run.settings.budget, state.usage);

/** Whether anything bounds what this run spends; where nothing does, no time is spent on it either. */
const isBounded = ({ run: { settings }, ports }: Pass): boolean =>
  settings.budget.usd !== undefined || settings.budget.tokens !== undefined || ports.accountIsSpent !== undefined;

/** Whether anything may be asked of a model for this run, however little. `bill` is what is not in the log yet. */
export async function mayAskMore(pass: Pass, bill?: Usage): Promise<boolean> {
  if (!isBounded(pass) || pass.signals.stop.aborted) return true;
  const spent = bill ? addUsage(pass.state.usage, bill) : pass.state.usage;
  if (isUsedUp(pass.run.settings.budget, spent)) return false;
  return !(await pass.ports.accountIsSpent?.());
}

/** The same for the next request: what it is read for alone must fit into what is left. */
export async function affordsNext(pass: Pass): Promise<boolean> {
  if (!isBounded(pass) || pass.signals.stop.aborted) return true;
  return (await mayAskMore(pass)) && (await fits(pass));
}

async function fits(pass: Pass): Promise<boolean> {
  const { state, run, ports, meter } = pass;
  const { usd, tokens } = run.settings.budget;
  const tokenPrice = usd === undefined ? undefined : ports.leastInputPrice?.(run.settings.model);
  if (tokens === undefined && !tokenPrice) return true;

  const request = await weigh({ run, state }, meter);
  if (tokens !== undefined && request > tokens - tokensOf(state.usage)) return false;
  return usd === undefined || !tokenPrice || request * tokenPrice <= usd - (state.usage.cost_usd ?? 0);
}
