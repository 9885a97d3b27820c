import {
  type CallId,
  type NewFact,
  type ProgramAnswer,
  type ProgramRequest,
  type ToolCall,
  callIdInProgram,
  toFailedResult,
  programLimits,
} from '@rondo/contract';
import type { LoopContext } from '../loop-context';
import type { Ledger } from '../run/ledger';
import { isProgram } from '../tools/program.tools';
import { answerCall } from './answer-call';
import { planCall } from './plan-calls';

/**
 * Enters the calls that a program waits for into the ledger: from then on they are calls of the run like any other. A program
 * that asks for more than it may is ended. Its requests come from a sandbox, so nothing in them is taken for granted.
 */
export function planProgramCalls(loop: LoopContext, call: ToolCall, requests: readonly ProgramRequest[]): NewFact[] {
  const answers = listAnswers(loop.state.calls, call.id);
  const problem = isProgram(call.name) ? findProblem(answers, requests) : `${call.name} is no program.`;
  if (problem !== undefined) return answerCall(loop, call, { result: toFailedResult(problem), durationMs: 0 });
  return requests.flatMap(({ position, digest, ...decoded }) =>
    planCall(loop, decoded, {
      ...{ id: callIdInProgram(call.id, position), index: call.index, message_id: call.message_id },
      program: { call_id: call.id, position, digest },
    }),
  );
}

/** What a program is told of its calls so far, in the order in which it made them. */
export const listAnswers = (calls: Ledger, program: CallId): ProgramAnswer[] =>
  [...calls.values()]
    .flatMap(({ call, result }) =>
      call.program?.call_id === program && result ? [{ place: call.program, result }] : [],
    )
    .toSorted((a, b) => a.place.position - b.place.position)
    .map(({ place: { digest }, result: { success, output, error, exit_code } }) => ({
      ...{ digest, success, output },
      ...(error !== undefined && { error }),
      ...(exit_code !== undefined && { exit_code }),
    }));

function findProblem(answers: readonly ProgramAnswer[], requests: readonly ProgramRequest[]): string | undefined {
  const count = answers.length + requests.length;
  if (count > programLimits.calls) return `The program was ended: it made more than ${programLimits.calls} calls.`;
  if (requests.length > programLimits.callsAtOnce)
    return `The program was ended: it made more than ${programLimits.callsAtOnce} calls at a time.`;
  const told = answers.reduce((sum, { output, error = '' }) => sum + output.length + error.length, 0);
  if (told > programLimits.answers)
    return `The program was ended: the results of its calls have more than ${programLimits.answers} characters in all.`;
  const isInOrder = requests.every(({ position }, index) => position === answers.length + index);
  return requests.length > 0 && isInOrder ? undefined : 'The program was ended: its calls came in no order.';
}
