import { isRunBudgetExceeded } from '../run/run-budget';
import { type StopRequest, TerminalError } from '../errors';
import { closeOpenCalls, failRun } from '../run/end-run';
import { type KnownCall, awaitsPerson, openCalls } from '../tool-calls/ledger';
import type { LoopContext } from './loop-context';
import type { CutShort } from '../ports';
import { type FinishReason, type NewFact, type RunError, type Waiting, failureOf } from '@rondo/contract';
import { isStuck } from './repetition';
import { askToResolve } from '../tool-calls/resolve-call';
import type { RunState } from '../run/run-state';
import { outOfTime, timeLeftMs } from '../run/time-left';
import { ask, endsRun } from '../tools/conversation.tools';

/** What follows from where the run stands. `over`: the loop leaves it, because it ended or because it waits. */
export interface Decision {
  readonly facts: readonly NewFact[];
  readonly over: boolean;
}

/** A reply that breaks off after it had begun is asked for this many times in all. */
const maxReplyAttempts = 3;

export function decide(loop: LoopContext): Decision {
  const { state, signals } = loop;
  if (state.ended) return over();
  if (signals.stop.aborted) return over(...cutShort(loop, signals.stop.reason as CutShort)); // every abort of `stop` gives this reason

  if (state.phase === 'thinking') return state.lostReplies >= maxReplyAttempts ? over(failed(loop, noReply)) : goOn();
  if (state.phase === 'between') return goOn();

  const inDoubt = openCalls(state).find(awaitsPerson);
  if (inDoubt) return over(askToResolve(inDoubt));

  const reason = endOfIteration(loop);
  const iterationCompleted: NewFact = {
    type: 'iteration.completed',
    iteration: state.iteration,
    data: { iteration: state.iteration, finish_reason: reason },
  };
  const next = afterIteration(loop, reason);
  return next ? over(iterationCompleted, next) : goOn(iterationCompleted);
}

const over = (...facts: NewFact[]): Decision => ({ facts, over: true });
const goOn = (...facts: NewFact[]): Decision => ({ facts, over: false });

const noReply: RunError = {
  code: 'model_no_reply',
  message: `The model gave no whole reply, ${maxReplyAttempts} times in a row.`,
};

function endOfIteration({ state }: LoopContext): FinishReason {
  if (state.calls.size === 0) return state.modelFinishReason;
  if (completedCall(state, isAsk)) return 'ask';
  if (completedCall(state, endsRun)) return 'complete';
  return state.modelFinishReason === 'xml_tool_limit_reached' ? 'xml_tool_limit_reached' : 'tool_calls';
}

const isAsk = (name: string): boolean => name === ask.name;

const completedCall = ({ calls }: RunState, is: (name: string) => boolean): KnownCall | undefined =>
  [...calls.values()].find(({ call, status }) => is(call.name) && status === 'completed');

/** The fact that ends or parks the run after an iteration, if one does. */
function afterIteration(loop: LoopContext, reason: FinishReason): NewFact | undefined {
  const { state, run, ports, beganAt } = loop;
  const { limits } = run.settings;

  if (isCutOffByBudget(loop, reason)) return completed(loop, 'budget_exceeded');
  if (reason === 'complete' || state.calls.size === 0) return completed(loop, reason);
  if (state.malformedInARow >= limits.max_malformed_calls) return failed(loop, tooManyMalformed(state.malformedInARow));
  if (run.settings.termination === 'single_decision' && limits.max_iterations === 1) return completed(loop, 'stop');
  if (state.iteration >= limits.max_iterations) return completed(loop, 'max_iterations');
  if (isRunBudgetExceeded(loop)) return completed(loop, 'budget_exceeded');
  if (isStuck(loop)) return completed(loop, 'loop_detected');
  if (timeLeftMs({ ...run, state }, { now: ports.clock.now(), beganAt }) < 0)
    return failed(loop, outOfTime(run.settings));
  return reason === 'ask' ? { type: 'run.waiting', iteration: state.iteration, data: questionOf(loop) } : undefined;
}

/** The reply would have gone on, but for the money. */
const isCutOffByBudget = (loop: LoopContext, reason: FinishReason): boolean =>
  reason === 'length' &&
  (loop.isCutOffByBudget || (loop.run.settings.processor.native_max_auto_continues > 0 && isRunBudgetExceeded(loop)));

function questionOf({ state }: LoopContext): Waiting {
  const asked = completedCall(state, isAsk);
  if (!asked) return { reason: 'ask' };
  const { text, attachments } = ask.input.parse(asked.call.arguments);
  return { reason: 'ask', question: { text, attachments: [attachments ?? []].flat(), tool_call_id: asked.call.id } };
}

const tooManyMalformed = (count: number): RunError => ({
  code: 'too_many_malformed_calls',
  message: `The model wrote ${count} tool calls in a row that could not be read.`,
});

export const completed = ({ state }: LoopContext, reason: FinishReason): NewFact => ({
  type: 'run.completed',
  iteration: state.iteration,
  data: { finish_reason: reason, usage: state.usage },
});

export const failed = ({ state }: LoopContext, error: RunError): NewFact => ({
  type: 'run.failed',
  iteration: state.iteration,
  data: { error: failureOf(error), usage: state.usage },
});

function cutShort(loop: LoopContext, why: CutShort): NewFact[] {
  if (!(why instanceof TerminalError)) return stopped(loop, why);
  return failRun({ ...loop.run, state: loop.state }, loop.ports.ids, why);
}

/** What never ran, and what nobody knows, is answered in the same breath (R29). */
function stopped(loop: LoopContext, { requestedAt, reason }: StopRequest): NewFact[] {
  const { state, receipt } = loop;
  const data = { reason, receipt: receipt.contents(requestedAt), usage: state.usage };
  return [...closeOpenCalls(loop, 'was stopped'), { type: 'run.stopped', iteration: state.iteration, data }];
}
