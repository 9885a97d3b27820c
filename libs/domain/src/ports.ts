import type {
  AnsweredResult,
  AwaitedChild,
  CallId,
  CallInput,
  McpTask,
  CompactionId,
  ImageSize,
  MemoryEntry,
  MemoryMatch,
  MemoryStoreId,
  MemoryVersion,
  MessageId,
  ModelCallId,
  NewFact,
  NewId,
  NewMessage,
  PlanProgress,
  ProgramAnswer,
  ProgramRequest,
  RequiredInput,
  RecordedFact,
  RunEvent,
  RunId,
  RunSettings,
  ToolCall,
  Usage,
} from '@rondo/contract';
import type { ResolveBudget } from './models/model-budgets';
import type { StopRequest, TerminalError } from './errors';
import type { ModelChunk, ModelRequest } from './models/model';
import type { ModelFacts } from './models/model-facts';
import type { CallSize } from './models/model-price';
import type { Claim, ClaimedRun, LastClaim, PendingStop, ServedAccount, WaitingMessage } from './run/claim';
import type { HonoursKeys } from './tools/define-tool';

/** A language model behind a provider. */
export interface Model {
  /**
   * Streams a reply in non-empty batches. The last chunk of the last batch is `end`. Never rejects: the `end` chunk
   * describes a failure.
   */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<readonly ModelChunk[]>;
}

/** Estimates how many tokens a model counts, closely enough to plan by; the provider's report is exact. */
export interface TokenCounter {
  /**
   * The tokens of each text, in order. Never blocks the event loop: hostile texts only take longer. Caches nothing, so a
   * caller that needs the count of a text again should keep it.
   */
  countTexts(texts: readonly string[], model: string): Promise<number[]>;
  /** The tokens of an image; of an ordinary screenshot if the size is unknown. */
  imageTokens(size: ImageSize | undefined, model: string): number;
}

/**
 * Carries out tool calls. Resolves even when a tool fails; rejects only if this worker must not continue (its claim was
 * lost, or it drains). `attempt` of a call says which sending is meant. If an earlier attempt turns out to be answered,
 * its answer is returned and nothing is executed again. An abort of `signal` stops the call: its process group is killed
 * and the answer is `stopped`, at most 3 s later.
 */
export interface Tools<Result = AnsweredResult> {
  /**
   * The name of the store that calls are sent into; null while it is not known. As long as the name stays the same,
   * nothing in the store was lost, so a call without a trace there was never sent.
   */
  readonly store: string | null;
  /** Sends an attempt that the ledger has as dispatched and that was not sent before. */
  execute(call: CallToSend, signal: AbortSignal): Promise<ToolAnswer<Result>>;
  /**
   * Finds the answer of a call that an earlier holder was about to send. Sends the call only if it certainly was not sent
   * before; otherwise its outcome is unknown, and the loop decides whether it may be sent again (I5).
   */
  reattach(call: SentCall, signal: AbortSignal): Promise<ToolAnswer<Result>>;
  /**
   * Ends background jobs and daemons of the run. Resolves to the calls that had left some, once these are dead; to
   * undefined if it was not confirmed in that time that nothing is left.
   */
  endRun(withinMs: number): Promise<readonly StoppedTool[] | undefined>;
}

/** How a call that was sent to an executor ended. */
export type ToolAnswer<Result = AnsweredResult> =
  | {
      readonly how: 'answered';
      readonly result: Result;
      readonly durationMs: number;
      /** The plan in todo.md, where the call may have changed it. */
      readonly plan?: PlanProgress;
    }
  /** It did nothing that counts: its server asks people first, and wants the call once more with their answers. */
  | { readonly how: 'input_required'; readonly required: RequiredInput }
  /** It is a program, which waits for these calls. */
  | { readonly how: 'calls'; readonly requests: readonly ProgramRequest[] }
  /** Its server goes on with it as a task, and is to be asked for that task. */
  | { readonly how: 'task'; readonly task: McpTask }
  /** It may or may not have taken effect: the executor died, or left no trace. `isLost`: so did the task that it had become. */
  | { readonly how: 'unknown'; readonly reason: string; readonly isLost?: boolean }
  /** Our stop ended it. `verifiedDeadAt` is null if that was not confirmed in time; `durationMs` is absent if it did not run. */
  | { readonly how: 'stopped'; readonly verifiedDeadAt: string | null; readonly durationMs?: number };

/**
 * A call, and with what it is sent once more after its server has asked people for something, or has made a task of it, or after
 * its program has asked for calls.
 */
export interface CallToSend extends ToolCall {
  readonly input?: CallInput;
  readonly task?: McpTask;
  /** The answers to all calls of the program so far. */
  readonly answers?: readonly ProgramAnswer[];
}

export interface SentCall {
  readonly call: CallToSend;
  /** The store that it was to be sent into. */
  readonly store: string | null;
}

/** A call that a stop has ended, as the receipt lists it (I7). */
export interface StoppedTool {
  readonly tool_call_id: CallId;
  readonly verified_dead_at: string | null;
  /** The names of processes that it had left running. */
  readonly processes?: string[];
}

/** The child runs of one run, which its calls of `run_agent` start. */
export interface ChildRuns {
  /**
   * Starts the run of a call and commits it. The id of the run follows from that of the call: a call that has started one
   * finds it, and never starts a second. Refused if the limits of the tree, the agent or its settings do not allow it, or
   * if a stop of the tree was requested. Rejects with ClaimLostError.
   */
  start(call: ToolCall): Promise<ChildStart>;
  /** Requests a stop of every run below this one, and resolves once all are over, but after that time at the latest. */
  stopAll(withinMs: number): Promise<readonly StoppedChild[]>;
}

export type ChildStart =
  { readonly how: 'started'; readonly child: AwaitedChild } | { readonly how: 'refused'; readonly reason: string };

/** A run below one that was stopped, as the receipt lists it (I7). `ended_at` is null if its end was not seen in time. */
export interface StoppedChild {
  readonly run_id: RunId;
  readonly ended_at: string | null;
}

/** What the runs of a tree may spend together, its first run and all below it, and what all but this one have spent. */
export interface TreeBudget {
  readonly rootRunId: RunId;
  readonly budget: RunSettings['budget'];
  /** As committed. What this run has spent is in its state, which may be ahead of the store. */
  readonly spentByOthers: Usage;
}

/**
 * What the holders of one queue may do with its runs. Postgres owns the truth (I1); the queue only says when to look.
 * Facts move a run to another queue: see `movesTo`.
 */
export interface RunStore {
  /**
   * Claims a due run of this queue. Undefined if another holder has it or it is not due. Rejects with UnreadableRunError
   * if the log could not be read, and with NewerRunError if this version does not know all of it.
   */
  claim(id: RunId, owner: string): Promise<ClaimedRun | undefined>;
  /**
   * Writes facts, and everything that follows from them (status, messages, ledger, usage), in one transaction.
   * Facts that end or park the run, or move it to another queue, end the claim. Rejects with ClaimLostError if a later
   * claim exists or the run is over, and with StopPendingError if a stop was requested and the facts would end the run
   * otherwise, park it or make it wait for a summary.
   */
  append(claim: Claim, facts: readonly NewFact[]): Promise<readonly RecordedFact[]>;
  /**
   * Releases the claim and queues the run again, in one transaction. Resolves also if the claim was lost. A clean
   * hand-over does not count as a fruitless claim; one that `broke` does.
   */
  handOver(claim: Claim, how?: { broke: boolean }): Promise<void>;
}

/** Chooses between due runs when there are more than can be held. */
export interface FairClaims {
  /**
   * Claims the next run. Accounts take turns: first the account with the fewest held runs, then the one that was served
   * longest ago, and of its runs the one that is due longest. `served` is called right before the claim and lists the
   * account served longest ago first; an account that is not in it comes before those.
   */
  claimNext(owner: string, served: () => readonly ServedAccount[]): Promise<ClaimedRun | undefined>;
}

/** Ends runs whose log cannot be read. */
export interface LastClaims {
  /** Claims a due run of this queue without reading its log. */
  claimToEnd(id: RunId, owner: string): Promise<LastClaim | undefined>;
}

/** What a holder learns of its runs when it renews their leases: lost ones, requested stops, and those that were told something. */
export interface Renewal {
  readonly lost: readonly RunId[];
  readonly stops: readonly PendingStop[];
  readonly told: readonly RunId[];
}

/** Leases of claims, by the database's clock. */
export interface Leases {
  /** Renews every lease of this owner in one statement. */
  renew(owner: string, held: readonly Claim[]): Promise<Renewal>;
  /**
   * Queues runs whose holder is silent and runs whose job is missing, and returns runs that no summarizer claims to the
   * workers. Resolves to the number of these runs.
   */
  reap(): Promise<number>;
}

/** The history of a thread beyond the conversation of a run, which lacks what a summary has replaced. */
export interface ThreadArchive {
  /** A message from before the run, or of the run. */
  message(id: string): Promise<NewMessage | undefined>;
  /** The successful calls of a tool in the thread, in order; if there are very many, only the newest. */
  listSucceeded(tool: string): Promise<readonly PastCall[]>;
}

export interface PastCall {
  readonly id: CallId;
  readonly runId: RunId;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/**
 * The memory stores of the account of a run. What a store refuses is an answer; rejects only if it could not be reached, and then
 * the call is made again.
 */
export interface RunMemory {
  /** The first entries by their paths. */
  list(store: MemoryStoreId): Promise<MemoryAnswer<readonly MemoryVersion[]>>;
  read(store: MemoryStoreId, path: string): Promise<MemoryAnswer<MemoryEntry>>;
  /** The best first. */
  search(store: MemoryStoreId, query: string): Promise<MemoryAnswer<readonly MemoryMatch[]>>;
  /** A call writes one version at most: made again, it is answered with that one. */
  write(store: MemoryStoreId, entry: MemoryWrite): Promise<MemoryAnswer<MemoryEntry>>;
  /** Refused if the entry has another version. What is not there is deleted. */
  delete(store: MemoryStoreId, entry: { readonly path: string; readonly version: number }): Promise<MemoryAnswer<void>>;
}

export interface MemoryWrite {
  readonly path: string;
  readonly content: string;
  /** Refused if the entry has another version; 0: if there is one. */
  readonly ifVersion: number | undefined;
  readonly callId: CallId;
}

export type MemoryAnswer<Value> =
  { readonly how: 'done'; readonly value: Value } | { readonly how: 'refused'; readonly reason: string };

/** Generates unique ids. A port, so that tests can predict them. */
export interface IdGenerator {
  messageId(): MessageId;
  modelCallId(): ModelCallId;
  compactionId(): CompactionId;
}

/** Puts the prefix of its kind before each new id. `newId` returns letters and digits only, so nothing is parsed. */
export const idGenerator = (newId: NewId): IdGenerator => ({
  messageId: () => `msg_${newId()}` as MessageId,
  modelCallId: () => `mdl_${newId()}` as ModelCallId,
  compactionId: () => `cmp_${newId()}` as CompactionId,
});

/** The current time: ISO 8601, UTC, milliseconds. A port, so that tests can set it. */
export interface Clock {
  now(): string;
}

/** What the agent loop needs from outside. */
export interface AgentPorts {
  readonly model: Model;
  readonly tools: Tools;
  readonly tokens: TokenCounter;
  readonly ids: IdGenerator;
  readonly clock: Clock;
  readonly resolveBudget: ResolveBudget;
  /** What is known about a model; undefined where nothing is. Absent: every model behaves well. */
  readonly findFacts?: ((model: string) => ModelFacts | undefined) | undefined;
  /** Absent if the run's conversation is complete. */
  readonly archive?: ThreadArchive | undefined;
  /** What people have told the run and it has not read, in order. Absent: no client can tell it anything. */
  readonly waitingMessages?: (() => Promise<readonly WaitingMessage[]>) | undefined;
  /** Absent: the run has no memory stores. */
  readonly memory?: RunMemory | undefined;
  /** USD per input token at the lowest rate, if the model's price is known. */
  readonly leastInputPrice?: ((model: string) => number | undefined) | undefined;
  /** Whether the account has spent its budget. Absent: it has none. Must not reject. */
  readonly accountIsSpent?: (() => Promise<boolean>) | undefined;
  /** Absent: the run cannot start others. */
  readonly children?: ChildRuns | undefined;
  /** Of the tree of the run; undefined where that has no budget. Absent: the run is alone. Must not reject. */
  readonly treeBudget?: (() => Promise<TreeBudget | undefined>) | undefined;
  /**
   * Reserves what a model call can cost in the balance of the account, and waits while other runs have reserved what this one
   * needs. False: the balance does not cover it. Resolves early to true after an abort. Rejects with
   * TerminalError if the account may not use the model. Absent: accounts are not limited.
   */
  readonly reserve?:
    ((model: string, readSize: () => Promise<CallSize>, stop: AbortSignal) => Promise<boolean>) | undefined;
  /** Absent: no server is known to honour idempotency keys. */
  readonly honoursKeys?: HonoursKeys | undefined;
}

/** `stop` ends the run and has a StopReason; `drain` asks to leave the run at the next iteration boundary. */
export interface AgentSignals {
  readonly stop: AbortSignal;
  readonly drain: AbortSignal;
}

/** Why a run is ended early: a stop was requested, or its time is over. */
export type StopReason = StopRequest | TerminalError;

/**
 * Brings the events of runs to their subscribers, at most once: the log has the facts, and a subscriber that misses a `seq`
 * reads it there (I1). `publish` returns at once and never throws.
 */
export interface RunFeed {
  /** Events of one run are delivered in the order of publication. Without a connection, the newest are kept for its return. */
  publish(events: readonly RunEvent[]): void;
  /** `onEvent` gets each event with its JSON as it was published. */
  watch(runId: RunId, onEvent: (event: RunEvent, json: string) => void): RunWatch;
}

export interface RunWatch {
  /**
   * Resolves, and never rejects, once the subscription is confirmed: events that are published from then on are received.
   * Without a connection it resolves a moment later, since no event can be received then anyway.
   */
  ready(): Promise<void>;
  stop(): void;
}
