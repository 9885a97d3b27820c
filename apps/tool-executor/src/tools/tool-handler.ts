import type { ExecutorResult, ToolResult } from '@rondo/contract';
import type { ExecutorTool } from '@rondo/domain';
import type { z } from 'zod';
import type { EgressGate, Sandbox } from '../sandboxes';

export type InputOf<Name extends ExecutorTool['name']> = z.infer<Extract<ExecutorTool, { name: Name }>['input']>;

/** What a hand works with during one call. */
export interface ToolContext {
  readonly sandbox: Sandbox;
  /** What this process may reach in the sandbox's stead. */
  readonly egress: EgressGate;
  /**
   * The call's id, the same in every attempt (I5). Commands run under it; who can tell repetitions apart gets to see it.
   */
  readonly idempotencyKey: string;
  /** What a command leaves running is its run's. */
  readonly runId: string;
  readonly timeoutMs: number;
  /** Aborted when the call is to be killed. Quick work just finishes. */
  readonly signal: AbortSignal;
  /** For watchers: what a command prints, as it prints it. */
  readonly output: (text: string) => void;
}

/** Thrown where nobody can say whether the work took effect. The message is the reason, for the model to read. */
export class OutcomeUnknown extends Error {
  override readonly name = 'OutcomeUnknown';
}

/**
 * The part of a tool that does something. Its input is valid. A failure that the model should know is a result; a hand
 * throws only SandboxError, OutcomeUnknown, or the reason of its signal when that ended the work.
 */
export interface ToolHandler<Input> {
  work(input: Input, bench: ToolContext): Promise<ExecutorResult>;
  /** Calls of a thread in the same lane run one after the other; without a lane they run at once. */
  lane?(input: Input): string | undefined;
}

export const succeeded = (output: string, truncated = false): ToolResult => ({
  success: true,
  output,
  ...(truncated && { truncated }),
});
