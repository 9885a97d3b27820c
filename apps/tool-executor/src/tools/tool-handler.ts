import type {
  ExecutorResult,
  McpTask,
  ProgramAnswer,
  ProgramRequest,
  RequiredInput,
  ToolResult,
  ThreadId,
} from '@rondo/contract';
import type { ExecutorTool } from '@rondo/domain';
import type { z } from 'zod';
import type { EgressGate, Sandbox } from '../sandboxes';
import type { ThreadSites } from '../sites/site-store';
import type { ToolServices } from './tool-services';

export type ToolInput<Name extends ExecutorTool['name']> = z.infer<Extract<ExecutorTool, { name: Name }>['input']>;

/** What a handler works with during one call. */
export interface ToolContext {
  readonly sandbox: Sandbox;
  /** The tool as the model called it, which may be an alias. */
  readonly name: string;
  /** What this process may reach on the sandbox's behalf. */
  readonly egress: EgressGate;
  readonly services: ToolServices;
  /** The call's id, the same in every attempt (I5). Commands run under it, and servers that support it get to see it. */
  readonly idempotencyKey: string;
  readonly attempt: number;
  /** Of a program: what its calls have answered so far. */
  readonly answers: readonly ProgramAnswer[];
  /** The run that owns what a command leaves running. */
  readonly runId: string;
  /** The URL under which people reach a port of the sandbox. Undefined where previews are not configured. */
  readonly previewUrl: (port: number) => string | undefined;
  /** The sites that the thread has published. Undefined where previews are not configured. */
  readonly sites: ThreadSites | undefined;
  readonly timeoutMs: number;
  /** The same while a server reports progress. */
  readonly mostMs: number;
  /** Aborted when the call is to be killed. Quick work may ignore it and finish. */
  readonly signal: AbortSignal;
  /** Streams what a command prints, for live views. */
  readonly output: (text: string) => void;
}

/** A handler throws it where people are asked first: nothing was completed, and the call comes again with their answers. */
export class InputRequired extends Error {
  override readonly name = 'InputRequired';

  constructor(readonly required: RequiredInput) {
    super(`It asks for input: ${required.asked.map(({ message }) => message).join('; ')}`);
  }
}

/** A handler throws it where a program waits for calls: it comes again with their answers. */
export class CallsRequested extends Error {
  override readonly name = 'CallsRequested';

  constructor(readonly requests: readonly ProgramRequest[]) {
    super('The program calls tools, which the version of its worker does not know.');
  }
}

/** A handler throws it where a server goes on with the call as a task: the call comes again with it. */
export class TaskCreated extends Error {
  override readonly name = 'TaskCreated';

  constructor(readonly task: McpTask) {
    super('Its server goes on with it as a task, whose result is not here.');
  }
}

/** Thrown when it cannot be determined whether the work took effect. The message is the reason, for the model to read. */
export class OutcomeUnknown extends Error {
  override readonly name = 'OutcomeUnknown';
  /** The server does not know the task of the call any more. */
  isTaskLost = false;
}

/**
 * The part of a tool that does its work. Its input is valid. A failure that the model should know is a result; a handler
 * throws only SandboxError, OutcomeUnknown, or the reason of its signal when that ended the work.
 */
export interface ToolHandler<Input> {
  handle(input: Input, context: ToolContext): Promise<ExecutorResult>;
  /** Calls of a thread with the same mutex key run one after the other; without a key they run at once. */
  mutexKey?(input: Input): string | undefined;
}

export const toSuccess = (output: string, truncated = false): ToolResult => ({
  success: true,
  output,
  ...(truncated && { truncated }),
});

/** The abort reason of calls that are killed because the process ends, not because their run was stopped. */
export class ExecutorClosing extends Error {
  override readonly name = 'ExecutorClosing';
}

/** The key of work of a thread that takes turns under a key of its own. */
export const toTurn = (threadId: ThreadId, key: string): string => `${threadId} ${key}`;
