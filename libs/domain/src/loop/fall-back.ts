import type { NewFact, RunError } from '@rondo/contract';
import { fallbackAfter } from '../models/fallbacks';
import { type LoopContext, type Step, factsStep } from './loop-context';
import type { ModelCallResult } from './model-call';
import type { Reply } from './reply';

/** How long a fallback is asked in the place of the run's own model: a minute at first, twice as long after each time. */
const shortestMs = 60_000;
const longestMs = 16 * shortestMs;

/** Attempts at a reply that break off before another model is asked. */
const brokenReplies = 2;

/** The model that is asked now: the run's own, or a fallback. */
export function modelNow({ run, state, ports }: Pick<LoopContext, 'run' | 'state' | 'ports'>): string {
  const { fallback } = state;
  return fallback && ports.clock.now() < fallback.until ? fallback.model : run.settings.model;
}

/** Whether another model is asked when this one is away. */
export const hasFallback = ({ run, model }: LoopContext): boolean =>
  fallbackAfter(run.settings.fallbacks ?? [], model, 'service_unavailable') !== undefined;

/** Has the next model asked, where one stands in for the error. A reply of which a part is stored is not asked for again. */
export function* fallBack(loop: LoopContext, result: ModelCallResult, { hasBegun }: Reply): Generator<Step, boolean> {
  const { end } = result;
  const fact = end.how === 'failed' && !hasBegun ? fellBack(loop, end.error) : undefined;
  if (fact) yield factsStep(loop, result.usage('fell_back'), fact);
  return fact !== undefined;
}

/** The fact that another model is asked after replies that broke off again and again. */
export function afterBrokenReplies(loop: LoopContext, { end }: ModelCallResult): NewFact[] {
  const fact = end.how === 'broken' && loop.state.lostReplies >= brokenReplies ? fellBack(loop, end.error) : undefined;
  return fact ? [fact] : [];
}

function fellBack({ run, state, model, ports }: LoopContext, error: RunError): NewFact | undefined {
  const to = fallbackAfter(run.settings.fallbacks ?? [], model, error.code);
  if (to === undefined) return undefined;
  const waitMs = Math.min(shortestMs * 2 ** (state.fallback?.times ?? 0), longestMs);
  const retry_at = new Date(Date.parse(ports.clock.now()) + waitMs).toISOString();
  return { type: 'model.fell_back', iteration: state.iteration, data: { from: model, to, error, retry_at } };
}
