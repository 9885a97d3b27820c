import { type ToolResult, toFailedResult } from '@rondo/contract';
import { clipMiddle } from '../clip-text';
import { resultOfCommand } from '../shell/command-result';
import { CallsRequested, ExecutorClosing, OutcomeUnknown, type ToolHandler, type ToolInput } from '../tool-handler';
import type { ProgramStep } from './running-program';

/** The same program may be run several times until it ends, and each of its calls is made once: see docs/programs.md. */
export const runProgram: ToolHandler<ToolInput<'run_program'>> = {
  handle: async (program, context) => {
    const { sandbox, idempotencyKey: callId, attempt, runId: run, answers, timeoutMs, services } = context;
    const inTime = AbortSignal.timeout(timeoutMs);
    const signal = AbortSignal.any([context.signal, inTime]);
    try {
      const step = await services.programs.advance({ sandbox, callId, attempt, run, program, answers, signal });
      if (step.how === 'ended' && step.outcome.ending === 'killed') context.signal.throwIfAborted();
      if (step.how === 'calls') throw new CallsRequested(step.requests);
      return toResult(step, timeoutMs);
    } catch (error) {
      if (context.signal.aborted && context.signal.reason instanceof ExecutorClosing)
        throw new OutcomeUnknown('The executor was shut down while the program ran.');
      if (inTime.aborted && error === inTime.reason) return toFailedResult(tooLong(timeoutMs));
      throw error;
    }
  },
};

const tooLong = (timeoutMs: number): string =>
  `The program was killed: it ran for ${timeoutMs / 1000} s without an end or a call of a tool.`;

function toResult(step: Exclude<ProgramStep, { how: 'calls' }>, timeoutMs: number): ToolResult {
  if (step.how === 'broken')
    return { ...toFailedResult(`The program was ended. ${step.reason}`), output: step.printed };
  const { outcome, printed, returned } = step;
  const value = typeof returned === 'string' ? returned : returned == null ? '' : JSON.stringify(returned);
  const text = [printed, value].filter((part) => part !== '').join(printed.endsWith('\n') ? '' : '\n');
  const shown = { ...outcome, output: clipMiddle(text).text };
  return resultOfCommand(shown, { timeoutMs, advice: '', log: undefined, keepsDirectory: false });
}
