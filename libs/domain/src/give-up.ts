import { type Answering, answerCall } from './answer-call';
import { openCalls } from './known-call';
import type { AgentRun } from './pass';
import type { Clerk } from './ports';
import { type RunError, failureOf } from './run';
import type { NewFact } from './run-event';
import { failedResult } from './tool-result';

/** The end of a run that cannot go on: every open call is answered (I6), then the run has failed. */
export function giveUp(run: AgentRun, clerk: Clerk, error: RunError): NewFact[] {
  const { state } = run;
  const data = { error: failureOf(error), usage: state.usage };
  const failed: NewFact = { type: 'run.failed', iteration: state.iteration, data };
  return [...forgoOpenCalls({ run, state, ports: { clerk } }, 'failed'), failed];
}

/**
 * Answers the open calls of a run that ends, for whoever goes on with its thread (R29). What was never sent did not
 * happen; of anything else that is open, nobody knows.
 */
export function forgoOpenCalls(answering: Answering, ending: 'was stopped' | 'failed'): NewFact[] {
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
