import type { AwaitedChild, CallId, NewFact } from '@rondo/contract';
import type { LoopContext } from '../loop-context';
import { openCalls } from '../run/ledger';
import { answerCall } from '../tool-calls/answer-call';
import type { AnswerContext } from '../tool-calls/call-outcome';
import { type ChildEnd, resultOfChild } from './child-result';

/** The child runs of the open calls. */
export const awaitedChildren = ({ state, childRuns }: Pick<LoopContext, 'state' | 'childRuns'>): AwaitedChild[] =>
  openCalls(state).flatMap(({ call }) => childRuns.get(call.id) ?? []);

/** Parks the run until these runs are over. */
export const waitForChildren = (iteration: number, children: readonly AwaitedChild[]): NewFact => ({
  type: 'run.waiting',
  iteration,
  data: { reason: 'child_runs', child_runs: [...children] },
});

/**
 * The facts with which a parked run learns of the child runs that are over: an answer to each of their calls, and then that
 * the run waits for the others, or goes on. None if none is over. A call that has an answer gets no second one.
 */
export function collectChildren(
  answering: AnswerContext,
  awaited: readonly AwaitedChild[],
  ends: ReadonlyMap<CallId, ChildEnd>,
): NewFact[] {
  const open = openCalls(answering.state);
  const answers = open.flatMap(({ call }): NewFact[] => {
    const end = ends.get(call.id);
    if (!end) return [];
    return answerCall(answering, call, { result: resultOfChild(end), durationMs: end.durationMs });
  });
  if (answers.length === 0) return [];

  const { iteration } = answering.state;
  const left = awaited.filter(({ tool_call_id }) => !ends.has(tool_call_id));
  return [
    ...answers,
    left.length > 0
      ? waitForChildren(iteration, left)
      : { type: 'run.resumed', iteration, data: { reason: 'child_runs_ended' } },
  ];
}
