import type { AnsweredResult, CallId, McpTask, ProgramRequest, RequiredInput, ToolCall } from '@rondo/contract';
import type { CallToSend, SentCall, StoppedTool, ToolAnswer, Tools } from '../ports';

/** A tool that runs until its call is stopped. Where its end is not confirmed, the call may still run. */
export class RunsUntilStopped {
  constructor(readonly isEndConfirmed = true) {}
}

/** What a tool prints, its whole result, what it asks people or the run for, a task that it becomes, or that it does not end by itself. */
export type ToolOutcome =
  | string
  | AnsweredResult
  | RunsUntilStopped
  | RequiredInput
  | { readonly task: McpTask }
  | { readonly requests: readonly ProgramRequest[] };

/**
 * Tools that count effects. Effects happen at the other end, as with a real executor: they outlive the worker that sent a
 * call, and a call that was sent is found again by its id.
 */
export class LedgeredTools implements Tools {
  /** How often each call took effect. */
  readonly effects = new Map<CallId, number>();
  /** Tests change it to lose what was sent. */
  store = 'store 1';
  /** What calls have left running, until the run is stopped; undefined where its end is not confirmed. */
  leftRunning: readonly StoppedTool[] | undefined = [];
  private readonly answers = new Map<string, ToolAnswer>();
  private readonly running = new Map<string, RunsUntilStopped>();

  /** A call that it `forgets` takes effect, but its answer is lost. */
  constructor(
    private readonly perform: (call: CallToSend) => ToolOutcome = ({ name }) => `did ${name}`,
    private readonly forgets: (call: ToolCall) => boolean = () => false,
  ) {}

  execute(call: CallToSend, signal: AbortSignal): Promise<ToolAnswer> {
    if (signal.aborted) return Promise.resolve(stopped(true));
    const earlier = this.earlierAnswer(call);
    if (earlier) return Promise.resolve(earlier);

    if (!call.task) this.effects.set(call.id, (this.effects.get(call.id) ?? 0) + 1);
    const outcome = this.perform(call);
    if (outcome instanceof RunsUntilStopped) {
      this.running.set(toName(call), outcome);
      return this.untilStopped(call, outcome, signal);
    }
    if (typeof outcome === 'object' && 'asked' in outcome)
      return Promise.resolve(this.keep(call, { how: 'input_required', required: outcome }));
    if (typeof outcome === 'object' && 'task' in outcome)
      return Promise.resolve(this.keep(call, { how: 'task', task: outcome.task }));
    return Promise.resolve(this.keep(call, this.createAnswer(call, outcome)));
  }

  endRun(): Promise<readonly StoppedTool[] | undefined> {
    return Promise.resolve(this.leftRunning);
  }

  reattach({ call, store }: SentCall, signal: AbortSignal): Promise<ToolAnswer> {
    const answer = this.answers.get(toName(call));
    if (answer) return Promise.resolve(answer);
    const running = this.running.get(toName(call));
    if (running) return this.untilStopped(call, running, signal);
    if (store !== this.store) return Promise.resolve({ how: 'unknown', reason: 'No trace of the call was found.' });
    return this.execute(call, signal);
  }

  private createAnswer(
    call: ToolCall,
    outcome: string | AnsweredResult | { readonly requests: readonly ProgramRequest[] },
  ): ToolAnswer {
    if (this.forgets(call)) return { how: 'unknown', reason: 'The executor died while the tool ran.' };
    if (typeof outcome === 'object' && 'requests' in outcome) return { how: 'calls', requests: outcome.requests };
    const result = typeof outcome === 'string' ? { success: true, output: outcome } : outcome;
    return { how: 'answered', result, durationMs: 1 };
  }

  private earlierAnswer(call: ToolCall): ToolAnswer | undefined {
    for (let attempt = call.attempt - 1; attempt > 0; attempt -= 1) {
      const answer = this.answers.get(toName({ ...call, attempt }));
      if (answer?.how === 'answered') return answer;
    }
    return undefined;
  }

  private untilStopped(call: ToolCall, { isEndConfirmed }: RunsUntilStopped, signal: AbortSignal): Promise<ToolAnswer> {
    return new Promise((resolve) => {
      const stop = () => resolve(this.keep(call, stopped(isEndConfirmed)));
      if (signal.aborted) stop();
      else signal.addEventListener('abort', stop, { once: true });
    });
  }

  private keep(call: ToolCall, answer: ToolAnswer): ToolAnswer {
    this.running.delete(toName(call));
    this.answers.set(toName(call), answer);
    return answer;
  }
}

const toName = ({ id, attempt }: ToolCall): string => `${id}-${attempt}`;

const stopped = (isEndConfirmed: boolean): ToolAnswer => ({
  how: 'stopped',
  verifiedDeadAt: isEndConfirmed ? new Date(0).toISOString() : null,
});
