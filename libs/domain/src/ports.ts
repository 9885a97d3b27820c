import type { BudgetOf } from './context/model-budgets';
import type { TokenCounter } from './context/token-counter';
import type { StopRequest, TerminalError } from './errors';
import type {
  CallId,
  CompactionId,
  MessageId,
  ModelCallId,
  NewMessage,
  RecordedResult,
  RunId,
  ToolCall,
} from '@rondo/contract';
import type { Model } from './models/model';
import type { HonoursKeys } from './tools/honoured-keys';

/** A call of the past. */
export interface PastCall {
  readonly id: CallId;
  readonly runId: RunId;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** What a thread holds beyond the conversation that a run goes on from, which lacks what a summary stands for. */
export interface ThreadArchive {
  /** A message from before the run, or of the run. */
  message(id: string): Promise<NewMessage | undefined>;
  /** The calls of a tool that succeeded in the thread, in order; where they are very many, the newest. */
  succeeded(tool: string): Promise<readonly PastCall[]>;
}

/** What came of a call that was sent to an executor. */
export type ToolAnswer<Result = RecordedResult> =
  | { readonly how: 'answered'; readonly result: Result; readonly durationMs: number }
  /** It may or may not have taken effect: the executor died, or left no trace. */
  | { readonly how: 'unknown'; readonly reason: string }
  /** Our stop ended it. `verifiedDeadAt` is null where nobody confirmed it in time. */
  | { readonly how: 'stopped'; readonly verifiedDeadAt: string | null };

/**
 * The hands. Resolves even when the tool fails; rejects only when this worker may not go on (a lost claim, a drain).
 * A call's `attempt` says which sending of it is meant. Each is answered for itself, but where an earlier one turns out
 * to have been answered after all, that answer is given and nothing is done again.
 * An abort of `signal` stops the call: its process group is killed and the answer is `stopped`, at most 3 s later.
 */
export interface Tools<Result = RecordedResult> {
  /**
   * Names the store that calls are sent into, as it is now; null while that is not known. As long as it stays the same,
   * nothing in it was lost, and a call that left no trace there was never sent.
   */
  readonly store: string | null;
  /** Sends an attempt that the ledger holds as dispatched and that nobody has sent before. */
  execute(call: ToolCall, signal: AbortSignal): Promise<ToolAnswer<Result>>;
  /**
   * Finds the answer of a call that an earlier holder was about to send into `store`. Sends it only where that holder
   * never did; a call of which this is not certain is unknown, and the loop decides whether it may be sent again (I5).
   */
  reattach(call: SentCall, signal: AbortSignal): Promise<ToolAnswer<Result>>;
  /**
   * Ends what the run's calls have left running: jobs in the background, and daemons. Resolves to the calls that had left
   * something, once it is dead; to undefined where it was not confirmed within 3 s that nothing is left.
   */
  endRun(): Promise<readonly StoppedTool[] | undefined>;
}

export interface SentCall {
  readonly call: ToolCall;
  /** The store that it was to be sent into. */
  readonly store: string | null;
}

/** Makes ids that were never used before. The domain makes none by itself, so that a test can name them. */
export interface IdGenerator {
  messageId(): MessageId;
  modelCallId(): ModelCallId;
  compactionId(): CompactionId;
}

/** Tells the time: ISO 8601, UTC, milliseconds. The domain reads no other clock, so that a test can set it. */
export interface Clock {
  now(): string;
}

export interface AgentPorts {
  /** None where conversations are whole. */
  readonly archive?: ThreadArchive | undefined;
  readonly model: Model;
  readonly tools: Tools;
  readonly tokens: TokenCounter;
  readonly budgetOf: BudgetOf;
  readonly ids: IdGenerator;
  readonly clock: Clock;
  /** USD of one input token at the least, where a model's price is known. */
  readonly leastInputPrice?: ((model: string) => number | undefined) | undefined;
  /** Whether the run's account has used up what it may spend. Absent: it may spend anything. Must not reject. */
  readonly accountIsSpent?: (() => Promise<boolean>) | undefined;
  /** Without it, the operator vouches for no server. */
  readonly honoursKeys?: HonoursKeys | undefined;
}

/** Why a run ends in the middle of what it does: somebody asked for it, or its time is over. */
export type CutShort = StopRequest | TerminalError;

/** `stop` ends the run (its reason is a CutShort), `drain` asks to leave it at the next boundary of an iteration. */
export interface AgentSignals {
  readonly stop: AbortSignal;
  readonly drain: AbortSignal;
}

/** Calls stopped by a stop, as the receipt lists them (I7). */
export interface StoppedTool {
  readonly tool_call_id: CallId;
  readonly verified_dead_at: string | null;
  /** The names of processes that it had left running. */
  readonly processes?: string[];
}
