import type { FinishReason, NewFact, RunError, Waiting } from '@rondo/contract';
import { waitsForBudget, isRunBudgetExceeded, outOfTime, timeLeftMs } from '../budget/run-limits';
import { listAwaitedChildren, waitForChildren } from '../child-runs/child-runs';
import { TerminalError } from '../errors';
import type { LoopContext } from '../loop-context';
import { maxReplyAttempts } from '../models/model';
import type { StopReason } from '../ports';
import { isStuck } from '../prompt/repetition';
import { type LedgerEntry, awaitsPerson, findUnanswered, openCalls } from '../run/ledger';
import type { RunState } from '../run/run-state';
import { askForApproval } from '../tool-calls/approve-call';
import { waitForInput } from '../tool-calls/call-input';
import { askCaller } from '../tool-calls/caller-calls';
import { askToResolve } from '../tool-calls/resolve-call';
import { callsForCaller, listUnapprovedCalls } from '../tool-calls/start-call';
import { ask, asksUser, endsRun } from '../tools/conversation.tools';
import { withdrawUnstored } from './begin-reply';
import { toCompleted, failRun, toFailed, noReply, stopRun } from './end-run';

/** What follows from the state of the run. `done`: the loop leaves the run, because it ended or waits. */
export interface Decision {
  readonly facts: readonly NewFact[];
  readonly done: boolean;
}

export function decide(loop: LoopContext): Decision {
  const { state, signals } = loop;
  if (state.ended) return leave();
  if (signals.stop.aborted) return leave(...endEarly(loop, signals.stop.reason as StopReason)); // every abort of `stop` has such a reason

  if (state.phase === 'thinking')
    return state.lostReplies >= maxReplyAttempts
      ? leave(...withdrawUnstored(loop), toFailed(loop, noReply(state)))
      : proceed();
  if (state.phase === 'between') {
    const ending = endAfterAnswer(loop) ?? endAfterReply(loop);
    return ending ? leave(ending) : proceed();
  }

  const forCaller = callsForCaller(loop); // a program answers sooner than a person or another run
  if (forCaller.length > 0) return leave(...askCaller(loop, forCaller));
  const questions = openCalls(state).flatMap(findUnanswered); // before approvals: their time runs since the server asked
  if (questions.length > 0) return leave(waitForInput(state.iteration, questions));
  const undecided = openCalls(state).find(awaitsPerson);
  if (undecided) return leave(askToResolve(undecided));
  const unapproved = listUnapprovedCalls(loop);
  if (unapproved.length > 0) return leave(...askForApproval(loop, unapproved));

  const children = listAwaitedChildren(loop);
  if (children.length > 0) return leave(waitForChildren(state.iteration, children));

  const reason = endOfIteration(loop);
  const iterationCompleted: NewFact = {
    type: 'iteration.completed',
    iteration: state.iteration,
    data: { iteration: state.iteration, finish_reason: reason },
  };
  const next = afterIteration(loop, reason);
  return next ? leave(iterationCompleted, next) : proceed(iterationCompleted);
}

const leave = (...facts: NewFact[]): Decision => ({ facts, done: true });
const proceed = (...facts: NewFact[]): Decision => ({ facts, done: false });

function endOfIteration({ state }: LoopContext): FinishReason {
  if (state.calls.size === 0) return state.modelFinishReason;
  if (findCompletedCall(state, asksUser)) return 'ask';
  if (findCompletedCall(state, endsRun)) return 'complete';
  return state.modelFinishReason === 'xml_tool_limit_reached' ? 'xml_tool_limit_reached' : 'tool_calls';
}

const findCompletedCall = ({ calls }: RunState, is: (name: string) => boolean): LedgerEntry | undefined =>
  [...calls.values()].find(({ call, status }) => is(call.name) && status === 'completed');

/** The fact that ends or parks the run after an iteration, if one does. */
function afterIteration(loop: LoopContext, reason: FinishReason): NewFact | undefined {
  const { state, run } = loop;

  if (reason === 'ask') return { type: 'run.waiting', iteration: state.iteration, data: toQuestion(loop) };
  if (isCutOffByBudget(loop, reason)) return toCompleted(loop, 'budget_exceeded');
  if (reason === 'complete' || state.calls.size === 0) return goesOn(loop) ? undefined : toCompleted(loop, reason);
  if (!run.settings.processor.execute_tools) return toCompleted(loop, 'tool_calls'); // they are handed over in its message
  if (state.malformedInARow >= run.settings.limits.max_malformed_calls)
    return toFailed(loop, tooManyMalformed(state.malformedInARow));
  const last = endOfIterations(loop);
  if (last) return toCompleted(loop, last);
  if (isRunBudgetExceeded(loop) && !waitsForBudget(loop)) return toCompleted(loop, 'budget_exceeded'); // else `think` parks it
  if (isStuck(loop)) return toCompleted(loop, 'loop_detected');
  if (isOutOfTime(loop)) return toFailed(loop, outOfTime(run.settings));
  return undefined;
}

/** After a reply that would end it, a run reads what it was told meanwhile, if no limit keeps it from that. */
const goesOn = (loop: LoopContext): boolean =>
  loop.unread.length > 0 && !endOfIterations(loop) && !isRunBudgetExceeded(loop) && !isOutOfTime(loop);

const isOutOfTime = ({ run, state, ports, beganAt }: LoopContext): boolean =>
  timeLeftMs({ ...run, state }, { now: ports.clock.now(), beganAt }) < 0;

/** Why no other iteration may follow this one, if none may. */
function endOfIterations({ state, run: { settings } }: LoopContext): FinishReason | undefined {
  const { max_iterations } = settings.limits;
  if (settings.termination === 'single_decision' && max_iterations === 1) return 'stop';
  return state.iteration >= max_iterations ? 'max_iterations' : undefined;
}

/**
 * A question waits for its answer whatever limit the run has reached, because it would be lost otherwise. With the answer
 * the run ends if no iteration is left to read it; `think` does the same for a budget that is used up.
 */
function endAfterAnswer(loop: LoopContext): NewFact | undefined {
  const reason = findCompletedCall(loop.state, asksUser) && endOfIterations(loop);
  return reason && toCompleted(loop, reason);
}

/** The run went on after its last reply for a message that was withdrawn before it was read. */
function endAfterReply(loop: LoopContext): NewFact | undefined {
  const { state, unread } = loop;
  const newest = state.conversation.findLast(({ type }) => type !== 'summary');
  if (state.iteration === 0 || unread.length > 0 || newest?.type === 'user') return undefined;
  const reason = endOfIteration(loop);
  return reason === 'complete' || state.calls.size === 0 ? toCompleted(loop, reason) : undefined;
}

/** The reply was cut off by its length and not continued, because the budget was spent. */
const isCutOffByBudget = (loop: LoopContext, reason: FinishReason): boolean =>
  reason === 'length' &&
  (loop.isCutOffByBudget || (loop.run.settings.processor.native_max_auto_continues > 0 && isRunBudgetExceeded(loop)));

function toQuestion({ state }: LoopContext): Waiting {
  const entry = findCompletedCall(state, asksUser);
  if (!entry) return { reason: 'ask' };
  const { text, attachments } = ask.input.parse(entry.call.arguments); // all tools that ask have the same parameters
  return { reason: 'ask', question: { text, attachments: [attachments ?? []].flat(), tool_call_id: entry.call.id } };
}

const tooManyMalformed = (count: number): RunError => ({
  code: 'too_many_malformed_calls',
  message: `The model wrote ${count} malformed tool calls in a row.`,
});

/** A run whose time is over fails; any other early end is a stop that was requested. */
const endEarly = (loop: LoopContext, reason: StopReason): NewFact[] =>
  reason instanceof TerminalError
    ? failRun({ ...loop.run, state: loop.state, shown: loop.shown }, loop.ports.ids, reason)
    : stopRun(loop, reason);
