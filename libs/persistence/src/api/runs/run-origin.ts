import type { AgentId, CallId, RunId } from '@rondo/contract';

/** The stored agent whose settings a run has. */
export interface RunAgent {
  readonly id: AgentId;
  readonly version: number;
  /** The request named it, so a new thread keeps it for its later runs. */
  readonly isNamed: boolean;
}

/** Where a run that a call of `run_agent` starts stands in its tree. */
export interface RunOrigin {
  readonly parentRunId: RunId;
  readonly parentCallId: CallId;
  readonly rootRunId: RunId;
  /** 1 for a child of the first run. */
  readonly depth: number;
}

/** As the run and its first fact have it. */
export const originFields = (origin: RunOrigin | undefined) =>
  origin && { parent_run_id: origin.parentRunId, parent_call_id: origin.parentCallId, root_run_id: origin.rootRunId };

export const agentFields = (agent: RunAgent | undefined) =>
  agent && { agent_id: agent.id, agent_version: agent.version };
