import type { CallId, ToolCall } from '@rondo/contract';
import type { SentCall, StoppedTool, ToolAnswer, Tools } from '../ports';

/**
 * Hands that count. Effects happen at the other end, as with a real executor: they outlive the worker that asked for
 * them, and a call that was sent can be found again by its id.
 */
export class LedgeredTools implements Tools {
  /** How often each call took effect. */
  readonly effects = new Map<CallId, number>();
  /** Tests change it to lose what was sent. */
  store = 'store 1';
  /** What calls have left running, until the run is stopped. */
  leftRunning: readonly StoppedTool[] = [];
  private readonly answers = new Map<string, ToolAnswer>();

  /** A call that it `forgets` takes effect, but nobody hears what came of it. */
  constructor(
    private readonly perform: (call: ToolCall) => string = ({ name }) => `did ${name}`,
    private readonly forgets: (call: ToolCall) => boolean = () => false,
  ) {}

  execute(call: ToolCall, signal: AbortSignal): Promise<ToolAnswer> {
    if (signal.aborted) return Promise.resolve({ how: 'stopped', verifiedDeadAt: new Date(0).toISOString() });

    this.effects.set(call.id, (this.effects.get(call.id) ?? 0) + 1);
    const result = { success: true, output: this.perform(call) };
    const answer: ToolAnswer = this.forgets(call)
      ? { how: 'unknown', reason: 'The executor died while the tool ran.' }
      : { how: 'answered', result, durationMs: 1 };
    this.answers.set(attemptOf(call), answer);
    return Promise.resolve(answer);
  }

  endRun(): Promise<readonly StoppedTool[]> {
    return Promise.resolve(this.leftRunning);
  }

  reattach({ call, store }: SentCall, signal: AbortSignal): Promise<ToolAnswer> {
    const answer = this.answers.get(attemptOf(call));
    if (answer) return Promise.resolve(answer);
    if (store !== this.store) return Promise.resolve({ how: 'unknown', reason: 'No trace of the call was found.' });
    return this.execute(call, signal);
  }
}

const attemptOf = ({ id, attempt }: ToolCall): string => `${id}-${attempt}`;
