import type { ToolResult } from '@rondo/domain';
import type { Sandbox } from '../sandbox';

/** What a hand works with during one call. */
export interface Workbench {
  readonly sandbox: Sandbox;
  /** Names the command that a call runs, so that a call can be killed by its id. */
  readonly callId: string;
  readonly timeoutMs: number;
  /** Aborted when the call is to be killed. Quick work just finishes. */
  readonly signal: AbortSignal;
  /** For watchers: what a command prints, as it prints it. */
  readonly output: (text: string) => void;
}

/**
 * The part of a tool that does something. Its input is valid. A failure that the model should know is a result; a hand
 * throws only SandboxError, or the reason of its signal when that ended the work.
 */
export interface Hand<Input> {
  work(input: Input, bench: Workbench): Promise<ToolResult>;
  /** Calls of a thread in the same lane run one after the other; without a lane they run at once. */
  lane?(input: Input): string | undefined;
}

export const succeeded = (output: string, truncated = false): ToolResult => ({
  success: true,
  output,
  ...(truncated && { truncated }),
});
