import { type RunSettings, type Usage, addUsage, type NewFact, type RunId } from '@rondo/contract';
import { TerminalError } from '../errors';
import type { AgentRun, LoopContext } from '../loop-context';
import { countRequestTokens } from '../prompt/prompt';
import { waitsLong } from '../run/run-state';

type Budget = RunSettings['budget'];

/** Whether a budget is used up. Usage without a known price costs nothing here. */
export const isBudgetExceeded = ({ usd, tokens }: Budget, spent: Usage): boolean =>
  (usd !== undefined && (spent.cost_usd ?? 0) >= usd) || (tokens !== undefined && countTokens(spent) >= tokens);

const countTokens = ({ input_tokens, output_tokens }: Usage): number => input_tokens + output_tokens;

export const isRunBudgetExceeded = ({ state, run }: Pick<LoopContext, 'state' | 'run'>): boolean =>
  isBudgetExceeded(run.settings.budget, state.usage);

/** Whether the run has any budget. Without one, the checks below are skipped. */
const isBounded = ({ run: { settings }, ports }: LoopContext): boolean =>
  settings.budget.usd !== undefined ||
  settings.budget.tokens !== undefined ||
  ports.treeBudget !== undefined ||
  ports.accountIsSpent !== undefined;

/** Whether some budget is left for a model call. `unrecorded` is usage that is not in the log yet. */
export async function mayCallModel(loop: LoopContext, unrecorded?: Usage): Promise<boolean> {
  if (!isBounded(loop) || loop.signals.stop.aborted) return true;
  const spent = unrecorded ? addUsage(loop.state.usage, unrecorded) : loop.state.usage;
  if (isBudgetExceeded(loop.run.settings.budget, spent)) return false;
  const tree = await treeBudget(loop, spent);
  if (tree && isBudgetExceeded(tree.budget, tree.spent)) return false;
  return accountAllows(loop);
}

const accountAllows = async ({ ports, signals }: LoopContext): Promise<boolean> =>
  signals.stop.aborted || !(await ports.accountIsSpent?.());

/**
 * Which budget does not cover the next model call: at least the input of its request. Undefined: all do, and the call is
 * reserved in the balance of the account.
 */
export async function budgetLack(loop: LoopContext): Promise<LackingBudget | 'account' | undefined> {
  if (loop.signals.stop.aborted) return undefined;
  const lack = isBounded(loop) ? await lackOfRuns(loop) : undefined;
  if (lack) return lack;
  return (await accountAllows(loop)) && (await reserveCall(loop)) ? undefined : 'account';
}

/** The budget of the run, or that of its tree. */
async function lackOfRuns(loop: LoopContext): Promise<LackingBudget | undefined> {
  const own = { budget: loop.run.settings.budget, spent: loop.state.usage };
  if (!(await covers(loop, own))) return own;
  const tree = await treeBudget(loop, loop.state.usage);
  return tree && !(await covers(loop, tree)) ? tree : undefined;
}

/** The budget of the tree and all that was spent of it, of which this run spent `own`. */
async function treeBudget({ ports }: LoopContext, own: Usage): Promise<LackingBudget | undefined> {
  const tree = await ports.treeBudget?.();
  if (!tree) return undefined;
  const { spentByOthers, ...whose } = tree;
  return { ...whose, spent: addUsage(spentByOthers, { ...own, cost_usd: own.cost_usd ?? 0 }) };
}

async function covers(loop: LoopContext, { budget, spent }: LackingBudget): Promise<boolean> {
  if (isBudgetExceeded(budget, spent)) return false;
  const { state, run, ports, meter, model } = loop;
  const { usd, tokens } = budget;
  const tokenPrice = usd === undefined ? undefined : ports.leastInputPrice?.(model);
  if (tokens === undefined && !tokenPrice) return true;

  const request = await countRequestTokens({ run, state }, meter);
  if (tokens !== undefined && request > tokens - countTokens(spent)) return false;
  return usd === undefined || !tokenPrice || request * tokenPrice <= usd - (spent.cost_usd ?? 0);
}

/**
 * The time that a run has left, in ms. The time that it waited for a person does not count. `beganAt` is the start of a
 * run whose log has none yet. Both times are ISO 8601.
 */
export function timeLeftMs(
  { settings, state }: Pick<AgentRun, 'settings' | 'state'>,
  { now, beganAt = now }: { now: string; beganAt?: string },
): number {
  const activeMs = Date.parse(now) - Date.parse(state.startedAt ?? beganAt) - state.waitedMs;
  return settings.limits.max_duration_s * 1000 - activeMs;
}

export const outOfTime = ({ limits }: RunSettings): TerminalError =>
  new TerminalError('max_duration_exceeded', `The run took longer than its limit of ${limits.max_duration_s} s.`);

/** A budget that does not cover the next model call. */
export interface LackingBudget {
  readonly budget: LoopContext['run']['settings']['budget'];
  readonly spent: Usage;
  /** The first run of the tree that shares the budget. Absent: the budget is that of the run itself. */
  readonly rootRunId?: RunId;
}

/** Whether the run waits for a higher budget when its own is used up, instead of ending. */
export const waitsForBudget = ({ run }: Pick<LoopContext, 'run'>): boolean => mayWaitFor(run.settings);

export const mayWaitFor = ({ budget }: Pick<LackingBudget, 'budget'>): boolean => budget.on_exceeded === 'wait';

/** Parks the run until the budget is raised, and says how much of it is used. */
export const awaitBudget = (iteration: number, { budget, spent, rootRunId }: LackingBudget): NewFact => ({
  type: 'run.waiting',
  iteration,
  data: {
    reason: 'budget',
    budget: {
      usd: budget.usd ?? null,
      tokens: budget.tokens ?? null,
      spent_usd: spent.cost_usd,
      spent_tokens: spent.input_tokens + spent.output_tokens,
      ...(rootRunId !== undefined && { root_run_id: rootRunId }),
    },
  },
});

/**
 * Reserves the next model call in the balance of the account. False: the balance does not cover it. `unrecorded` is the call
 * that it continues: its output is a part of the request, and its cost is not settled yet.
 */
export async function reserveCall(loop: LoopContext, unrecorded?: Usage): Promise<boolean> {
  const { run, state, ports, meter, signals, model } = loop;
  if (!ports.reserve || signals.stop.aborted) return true;
  const readSize = async () => ({
    model,
    inputTokens: (await countRequestTokens({ run, state }, meter)) + (unrecorded?.output_tokens ?? 0),
    maxOutputTokens: run.settings.llm.max_tokens,
    ...(waitsLong(state) && { waitsLong: true }),
    unsettledUsd: unrecorded?.cost_usd ?? 0,
  });
  return ports.reserve(model, readSize, signals.stop);
}
