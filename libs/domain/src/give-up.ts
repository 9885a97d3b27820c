import { answerCall } from './answer-call';
import type { AgentRun } from './pass';
import type { Clerk } from './ports';
import type { RunError } from './run';
import type { NewFact } from './run-event';
import { openCalls } from './run-state';

/** The end of a run that cannot go on: every open call is answered as unknown (I6), then the run has failed. */
export function giveUp(run: AgentRun, clerk: Clerk, error: RunError): NewFact[] {
  const { state } = run;
  const answers = openCalls(state).flatMap(({ call }) =>
    answerCall({ run, state, ports: { clerk } }, call, { unknown: 'The run failed while this call was open.' }),
  );
  return [...answers, { type: 'run.failed', iteration: state.iteration, data: { error, usage: state.usage } }];
}
