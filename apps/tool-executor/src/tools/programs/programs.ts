import { type ProgramAnswer, type ToolResult, failedResult } from '@rondo/contract';
import { clipMiddle } from '../clip-text';
import { resultOfCommand } from '../shell/command-result';
import { CallsRequested, ExecutorClosing, OutcomeUnknown, type ToolHandler, type ToolInput } from '../tool-handler';
import { type ProgramPlace, type ProgramSource, type ProgramStep, RunningProgram } from './running-program';

/** For so long a program waits in its sandbox for its calls. After that it is run again, from its start. */
const waitsMs = 60_000;
const mostWaiting = 64;

interface Continuing extends ProgramPlace {
  readonly program: ProgramSource;
  readonly answers: readonly ProgramAnswer[];
  readonly signal: AbortSignal;
}

/** The programs that wait for their calls in the sandboxes of this executor. */
export class Programs {
  private readonly waiting = new Map<string, { readonly program: RunningProgram; readonly timer: NodeJS.Timeout }>();

  /** A program that waits goes on; any other is run from its start, and gets the answers that it has had. */
  async advance({ program: source, answers, signal, ...place }: Continuing): Promise<ProgramStep> {
    const program = (await this.take(place)) ?? (await RunningProgram.start(place, source));
    try {
      const step = await program.advance(answers, signal);
      if (step.how === 'calls') this.keep(place.callId, program);
      else if (step.how === 'broken') await program.end();
      return step;
    } catch (error) {
      await program.end();
      throw error;
    }
  }

  private async take({ callId, attempt }: ProgramPlace): Promise<RunningProgram | undefined> {
    const kept = this.waiting.get(callId);
    clearTimeout(kept?.timer);
    this.waiting.delete(callId);
    return attempt > 1 && (await kept?.program.isWaiting()) ? kept?.program : undefined;
  }

  private keep(callId: string, program: RunningProgram): void {
    const timer = setTimeout(() => this.drop(callId), waitsMs).unref();
    this.waiting.set(callId, { program, timer });
    const [oldest] = this.waiting.keys();
    if (oldest !== undefined && this.waiting.size > mostWaiting) this.drop(oldest);
  }

  private drop(callId: string): void {
    const kept = this.waiting.get(callId);
    clearTimeout(kept?.timer);
    this.waiting.delete(callId);
    kept?.program.end().catch(() => undefined); // it died with its sandbox
  }
}

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
      if (inTime.aborted && error === inTime.reason) return failedResult(tooLong(timeoutMs));
      throw error;
    }
  },
};

const tooLong = (timeoutMs: number): string =>
  `The program was killed: it ran for ${timeoutMs / 1000} s without an end or a call of a tool.`;

function toResult(step: Exclude<ProgramStep, { how: 'calls' }>, timeoutMs: number): ToolResult {
  if (step.how === 'broken') return { ...failedResult(`The program was ended. ${step.reason}`), output: step.printed };
  const { outcome, printed, returned } = step;
  const value = typeof returned === 'string' ? returned : returned == null ? '' : JSON.stringify(returned);
  const text = [printed, value].filter((part) => part !== '').join(printed.endsWith('\n') ? '' : '\n');
  const shown = { ...outcome, output: clipMiddle(text).text };
  return resultOfCommand(shown, { timeoutMs, advice: '', log: undefined, keepsDirectory: false });
}
