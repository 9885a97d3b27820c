import { countRequestTokens } from '../context/compress';
import type { LoopContext } from '../loop/loop-context';
import { type RunSettings, type Usage, addUsage } from '@rondo/contract';

type Budget = RunSettings['budget'];

/** A budget that is used up. Money counts as far as prices are known. */
export const isBudgetExceeded = ({ usd, tokens }: Budget, spent: Usage): boolean =>
  (usd !== undefined && (spent.cost_usd ?? 0) >= usd) || (tokens !== undefined && tokensOf(spent) >= tokens);

const tokensOf = ({ input_tokens, output_tokens }: Usage): number => input_tokens + output_tokens;

export const isRunBudgetExceeded = ({ state, run }: Pick<LoopContext, 'state' | 'run'>): boolean =>
  isBudgetExceeded(run.settings.budget, state.usage);

/** Whether anything bounds what this run spends; where nothing does, no time is spent on it either. */
const isBounded = ({ run: { settings }, ports }: LoopContext): boolean =>
  settings.budget.usd !== undefined || settings.budget.tokens !== undefined || ports.accountIsSpent !== undefined;

/** Whether anything may be asked of a model for this run, however little. `bill` is what is not in the log yet. */
export async function mayCallModel(loop: LoopContext, bill?: Usage): Promise<boolean> {
  if (!isBounded(loop) || loop.signals.stop.aborted) return true;
  const spent = bill ? addUsage(loop.state.usage, bill) : loop.state.usage;
  if (isBudgetExceeded(loop.run.settings.budget, spent)) return false;
  return !(await loop.ports.accountIsSpent?.());
}

/** The same for the next request: what it is read for alone must fit into what is left. */
export async function affordsNextCall(loop: LoopContext): Promise<boolean> {
  if (!isBounded(loop) || loop.signals.stop.aborted) return true;
  return (await mayCallModel(loop)) && (await fits(loop));
}

async function fits(loop: LoopContext): Promise<boolean> {
  const { state, run, ports, meter } = loop;
  const { usd, tokens } = run.settings.budget;
  const tokenPrice = usd === undefined ? undefined : ports.leastInputPrice?.(run.settings.model);
  if (tokens === undefined && !tokenPrice) return true;

  const request = await countRequestTokens({ run, state }, meter);
  if (tokens !== undefined && request > tokens - tokensOf(state.usage)) return false;
  return usd === undefined || !tokenPrice || request * tokenPrice <= usd - (state.usage.cost_usd ?? 0);
}
