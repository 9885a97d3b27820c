import type { ContextMeter } from '../context/context-meter';
import type { CallId, Delta, NewFact, RunId, RunSettings, ThreadId } from '@rondo/contract';
import type { AgentPorts, AgentSignals, ToolAnswer } from '../ports';
import { type RunState, evolve, replay } from '../run/run-state';
import type { ClaimedRun } from '../run/run-store';
import type { ToolDefinition } from '../tools/define-tool';
import { type ToolSet, toolSetOf } from '../tools/tool-set';
import type { StopReceipt } from './stop-receipt';

/** A run as the loop needs it. */
export interface AgentRun {
  readonly id: RunId;
  readonly threadId: ThreadId;
  readonly settings: RunSettings;
  readonly tools: ToolSet;
  /** ISO 8601; the prompt's date, so that the prompt stays the same for the whole run. */
  readonly createdAt: string;
  readonly state: RunState;
}

/** A claimed run as the loop needs it, with the tools that its settings name. */
export const agentRunOf = (claim: ClaimedRun, catalog: readonly ToolDefinition[]): AgentRun => ({
  id: claim.runId,
  threadId: claim.threadId,
  settings: claim.run.settings,
  tools: toolSetOf(claim.run.settings, catalog),
  createdAt: claim.run.created_at,
  state: replay(claim.log, claim.earlier),
});

/** One passage of the loop through a run. Only `state` changes, and only by facts. */
export interface LoopContext {
  readonly run: AgentRun;
  readonly ports: AgentPorts;
  readonly signals: AgentSignals;
  readonly receipt: StopReceipt;
  /** When this passage began; ISO 8601. */
  readonly beganAt: string;
  /** Calls that were sent while the model still spoke. */
  readonly underWay: Map<CallId, Promise<ToolAnswer>>;
  /** Weighs what is sent. It learns from the model's bills. */
  readonly meter: ContextMeter;
  /** The model was not asked to go on with its reply. */
  isCutOffByBudget?: boolean;
  state: RunState;
}

/**
 * What the loop yields: facts that belong in one transaction, or a delta for those who watch. Steps that are there already
 * are yielded one by one: an asynchronous `yield*` would make promises of each.
 */
export type Step = FactsStep | { readonly delta: Delta };

export interface FactsStep {
  readonly facts: readonly NewFact[];
  /** They may be written together with the next ones. */
  readonly hold: boolean;
  /** The next step may be asked for while they are written. */
  readonly meanwhile?: true;
}

/** States facts: they change the state of the loop. The step is to be yielded: the caller writes them before the loop goes on. */
export const factsStep = (loop: LoopContext, ...facts: readonly NewFact[]): FactsStep =>
  factsStepOf(loop, facts, { hold: false });

/** The same; with `hold` the caller may write them in one transaction with the next step's. */
export function factsStepOf(loop: LoopContext, facts: readonly NewFact[], how: Omit<FactsStep, 'facts'>): FactsStep {
  loop.state = facts.reduce<RunState>(evolve, loop.state);
  return { facts, ...how };
}
