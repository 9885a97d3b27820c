import type { AwaitedChild, CallId, Delta, MessageId, NewFact, RunId, RunSettings, ThreadId } from '@rondo/contract';
import type { ContextMeter } from './context/context-meter';
import type { AgentPorts, AgentSignals, ToolAnswer } from './ports';
import type { ClaimedRun, WaitingMessage } from './run/claim';
import { type RunState, evolve, replay } from './run/run-state';
import type { StopReceipt } from './run/stop-receipt';
import type { ToolSet } from './tools/tool-set';

/** A run as the loop needs it. */
export interface AgentRun {
  readonly id: RunId;
  readonly threadId: ThreadId;
  readonly settings: RunSettings;
  readonly tools: ToolSet;
  /** ISO 8601. The prompt contains this date, so that it stays the same for the whole run. */
  readonly createdAt: string;
  readonly state: RunState;
}

/** A claimed run as the loop needs it. */
export const toAgentRun = (claim: ClaimedRun, tools: ToolSet): AgentRun => ({
  id: claim.runId,
  threadId: claim.threadId,
  settings: claim.run.settings,
  tools,
  createdAt: claim.run.created_at,
  state: replay(claim.log, claim.earlier),
});

/** What the phases of the loop work on. Only facts change `state`. */
export interface LoopContext {
  readonly run: AgentRun;
  readonly ports: AgentPorts;
  readonly signals: AgentSignals;
  readonly receipt: StopReceipt;
  /** When the loop was entered; ISO 8601. */
  readonly beganAt: string;
  /** When this activation learned that the run is stopped or out of time; ISO 8601. */
  stoppedAt?: string;
  /** Calls that were sent while the reply was still streaming. */
  readonly inFlight: Map<CallId, Promise<ToolAnswer>>;
  /** The model that is asked: the run's own, or a fallback. */
  model: string;
  /** The child runs of open calls, as far as this activation has started or found them. */
  readonly childRuns: Map<CallId, AwaitedChild>;
  /** Counts the tokens of requests; reported usage corrects it. */
  readonly meter: ContextMeter;
  /** What the next iteration reads first. */
  unread: readonly WaitingMessage[];
  /** The reply was cut off by its length, and the budget allowed no continuation. */
  isCutOffByBudget?: boolean;
  /** After the last reply broke off: the pause before the model is asked again. */
  pause?: ModelPause | undefined;
  /** The last reply that this activation has begun. */
  shown?: ShownReply;
  state: RunState;
}

export type ModelPause = NonNullable<Extract<NewFact, { type: 'iteration.restarted' }>['data']['retry']>;

/** The streams of a reply that were shown. */
export interface ShownReply {
  readonly messageId: MessageId;
  readonly streams: Set<string>;
}

/** A run and its current state. */
export type RunPosition = Pick<LoopContext, 'run' | 'state'>;

/**
 * What the loop yields: facts that belong in one transaction, or a delta for subscribers. Steps of an array or a
 * synchronous generator are yielded in a `for` loop, because an asynchronous `yield*` would create promises for each.
 */
export type Step = FactsStep | { readonly delta: Delta };

export interface FactsStep {
  readonly facts: readonly NewFact[];
  /** The facts may be committed together with those of the next step. */
  readonly hold: boolean;
  /** The next step may be requested while the facts are committed. */
  readonly meanwhile?: true;
}

/** Applies facts to the state of the loop. The step must be yielded, so that the caller commits them before the loop continues. */
export const factsStep = (loop: LoopContext, ...facts: readonly NewFact[]): FactsStep =>
  toFactsStep(loop, facts, { hold: false });

/** The same, with a choice of how the caller may commit them. */
export function toFactsStep(
  loop: LoopContext,
  facts: readonly NewFact[],
  options: Omit<FactsStep, 'facts'>,
): FactsStep {
  loop.state = facts.reduce<RunState>(evolve, loop.state);
  return { facts, ...options };
}
