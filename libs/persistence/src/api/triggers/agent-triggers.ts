import type { AccountId, AgentId } from '@rondo/contract';
import { readableJson } from '../../database/readable-json';

export interface TriggersOfAgent {
  readonly accountId: AccountId;
  /** Only those that name this agent. */
  readonly agentId?: AgentId | undefined;
}

/** The agent that the runs of a row of `triggers` name. */
export const agentOfTrigger = `(${readableJson('triggers.run')} ->> 'agent_id')`;

/** True of every row when the value is null. */
export const isOfAgent = (value: string): string => `(${value}::text is null or ${agentOfTrigger} = ${value})`;
