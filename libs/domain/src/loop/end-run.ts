import { type FinishReason, type NewFact, type RunError, type Usage, toFailedResult, toFailure } from '@rondo/contract';
import type { StopRequest } from '../errors';
import type { AgentRun, LoopContext, ShownReply } from '../loop-context';
import { maxReplyAttempts } from '../models/model';
import type { IdGenerator } from '../ports';
import { type LastClaim, stoppedWithError } from '../run/claim';
import { openCalls } from '../run/ledger';
import type { ReplyState, RunState } from '../run/run-state';
import { answerCall, type AnswerContext } from '../tool-calls/answer-call';
import { withdrawUnstored } from './begin-reply';

type Receipt = Extract<NewFact, { type: 'run.stopped' }>['data']['receipt'];

interface EndingRun {
  readonly state: Pick<RunState, 'iteration' | 'usage'>;
}

export const toCompleted = ({ state }: EndingRun, reason: FinishReason): NewFact => ({
  type: 'run.completed',
  iteration: state.iteration,
  data: { finish_reason: reason, usage: state.usage },
});

export const toFailed = ({ state }: EndingRun, error: RunError): NewFact => ({
  type: 'run.failed',
  iteration: state.iteration,
  data: { error: toFailure(error), usage: state.usage },
});

/** The end that a stop brings: as stopped, or as failed if it named an error. The receipt says what the stop did (I7). */
function toStopped({ state }: EndingRun, { reason, error }: StopRequest, receipt: Receipt): NewFact {
  const { iteration, usage } = state;
  if (error === undefined) return { type: 'run.stopped', iteration, data: { reason, receipt, usage } };
  const failure = toFailure({ code: stoppedWithError, message: error });
  return { type: 'run.failed', iteration, data: { error: failure, usage, receipt } };
}

export const noReply = ({ lostBecause }: RunState): RunError => ({
  code: 'model_no_reply',
  message:
    `The model gave no complete reply, ${maxReplyAttempts} times in a row.` +
    (lostBecause ? ` The last one ended with ${lostBecause.code}: ${lostBecause.message}` : ''),
});

/** Ends a stopped run: withdraws what was not stored (I13), answers its open calls (I6) and reports what the stop did. */
export const stopRun = (loop: LoopContext, stop: StopRequest): NewFact[] => [
  ...withdrawUnstored(loop),
  ...closeOpenCalls(loop, 'was stopped'),
  toStopped(loop, stop, loop.receipt.contents(stop.requestedAt)),
];

/** Ends a run that cannot continue: withdraws what was not stored (I13), answers its open calls (I6), then fails it. */
export function failRun(
  run: Pick<AgentRun, 'id' | 'threadId' | 'state'> & { readonly shown?: ShownReply | undefined },
  ids: Pick<IdGenerator, 'messageId'>,
  error: RunError,
): NewFact[] {
  const { state, shown } = run;
  const ending = { run, state, shown, ports: { ids } };
  return [...withdrawUnstored(ending), ...closeOpenCalls(ending, 'failed'), toFailed(run, error)];
}

/** Ends a run whose log cannot be read: as stopped if a stop was requested (I7), else as failed. */
export function endUnreadableRun(claim: LastClaim, ids: Pick<IdGenerator, 'messageId'>): NewFact[] {
  const { runId: id, threadId, run, calls, reply, stop, fruitlessClaims } = claim;
  const { iteration } = run;
  const answering: AnswerContext = { run: { id, threadId }, state: { iteration, calls }, ports: { ids } };
  if (stop) return stopUnheldRun(answering, { usage: run.usage, reply }, stop);
  const message = `The run was claimed ${fruitlessClaims} times in a row, and its log could not be read.`;
  const error: RunError = { code: 'no_progress', message };
  const withdrawals = withdrawUnstored({ state: reply, ports: { ids } });
  return [...withdrawals, ...closeOpenCalls(answering, 'failed'), toFailed({ state: run }, error)];
}

interface UnheldRun {
  readonly usage: Usage;
  readonly reply: ReplyState;
}

/** Stops a run that no worker holds, and of which nothing is running. */
export const stopUnheldRun = (answering: AnswerContext, { usage, reply }: UnheldRun, stop: StopRequest): NewFact[] => [
  ...withdrawUnstored({ state: reply, ports: answering.ports }),
  ...closeOpenCalls(answering, 'was stopped'),
  toStopped({ state: { iteration: answering.state.iteration, usage } }, stop, {
    ...nothingRan,
    requested_at: stop.requestedAt,
  }),
];

/** The receipt of a stop that found nothing running. */
const nothingRan = {
  model_aborted_at: null,
  tools_stopped: [],
  tokens_after_stop: 0,
  sandbox_verified_at: null,
};

/**
 * Answers the open calls of a run that ends, so that the next run of the thread finds a result for each. A call that was
 * never sent did not run; the outcome of any other open call is unknown.
 */
function closeOpenCalls(answering: AnswerContext, ending: 'was stopped' | 'failed'): NewFact[] {
  return openCalls(answering.state).flatMap(({ call, attempts }) =>
    answerCall(
      answering,
      call,
      attempts === 0
        ? { result: toFailedResult(`The run ${ending} before this tool ran.`), durationMs: 0 }
        : { unknown: `The run ${ending} while the outcome of this call was unknown.` },
    ),
  );
}
