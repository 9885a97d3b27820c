import { type AccountId, type AgentId, agentId, modelName } from '@rondo/contract';
import type { Agents } from '@rondo/persistence';
import { ApiError } from '../problems/api-error';

/** A stored agent by its id or its whole name. Undefined where no agent has that name. */
export async function findNamedAgent(
  agents: Pick<Agents, 'findId'>,
  accountId: AccountId,
  name: string,
): Promise<AgentId | undefined> {
  return agentId.safeParse(name).data ?? agents.findId(accountId, name);
}

/** The same where the name may be one of a model, which is undefined too. Rejects with `agent_not_found` for what is neither. */
export async function findAgentUnlessModel(
  agents: Pick<Agents, 'findId'>,
  accountId: AccountId,
  name: string,
): Promise<AgentId | undefined> {
  const agent = await findNamedAgent(agents, accountId, name);
  if (!agent && !modelName.safeParse(name).success)
    throw new ApiError('agent_not_found', `There is no agent ${name}, and it is no model.`);
  return agent;
}
