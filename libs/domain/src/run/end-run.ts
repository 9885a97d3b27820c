import { type AnswerContext, answerCall } from '../tool-calls/answer-call';
import { openCalls } from '../tool-calls/ledger';
import type { AgentRun } from '../loop/loop-context';
import type { IdGenerator } from '../ports';
import { type NewFact, type RunError, failedResult, failureOf } from '@rondo/contract';
import type { LastClaim } from './run-store';

/** The end of a run that cannot go on: every open call is answered (I6), then the run has failed. */
export function failRun(run: AgentRun, ids: Pick<IdGenerator, 'messageId'>, error: RunError): NewFact[] {
  const { state } = run;
  const data = { error: failureOf(error), usage: state.usage };
  const failed: NewFact = { type: 'run.failed', iteration: state.iteration, data };
  return [...closeOpenCalls({ run, state, ports: { ids } }, 'failed'), failed];
}

/** The end of a run whose log cannot be read. A stop that it was told of goes first (I7); nothing of it ran since. */
export function endUnreadableRun(claim: LastClaim, ids: Pick<IdGenerator, 'messageId'>): NewFact[] {
  const { runId: id, threadId, run, calls, stop, fruitlessClaims } = claim;
  const { iteration, usage } = run;
  const answering: AnswerContext = { run: { id, threadId }, state: { iteration, calls }, ports: { ids } };
  if (stop) {
    const data = { reason: stop.reason, receipt: { ...nothingRan, requested_at: stop.requestedAt }, usage };
    return [...closeOpenCalls(answering, 'was stopped'), { type: 'run.stopped', iteration, data }];
  }
  const message = `The run was taken up ${fruitlessClaims} times in a row, and what it would go on from could not be read.`;
  const data = { error: failureOf({ code: 'no_progress', message }), usage };
  return [...closeOpenCalls(answering, 'failed'), { type: 'run.failed', iteration, data }];
}

/** The receipt of a stop that found nothing at work. */
export const nothingRan = {
  model_aborted_at: null,
  tools_stopped: [],
  tokens_after_stop: 0,
  sandbox_verified_at: null,
};

/**
 * Answers the open calls of a run that ends, for whoever goes on with its thread (R29). What was never sent did not
 * happen; of anything else that is open, nobody knows.
 */
export function closeOpenCalls(answering: AnswerContext, ending: 'was stopped' | 'failed'): NewFact[] {
  return openCalls(answering.state).flatMap(({ call, attempts }) =>
    answerCall(
      answering,
      call,
      attempts === 0
        ? { result: failedResult(`The run ${ending} before this tool ran.`), durationMs: 0 }
        : { unknown: `The run ${ending} while nobody knew what became of this call.` },
    ),
  );
}
