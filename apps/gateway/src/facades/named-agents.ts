import { type AccountId, type AgentId, agentId, modelName } from '@rondo/contract';
import type { Agents } from '@rondo/persistence';
import { ApiError } from '../problems/api-error';

const pageSize = 200;

/** A stored agent by its id or its whole name. Undefined where no agent has that name. */
export async function findNamedAgent(
  agents: Pick<Agents, 'list'>,
  accountId: AccountId,
  name: string,
): Promise<AgentId | undefined> {
  const { success, data: id } = agentId.safeParse(name);
  if (success) return id;
  let after: string | undefined;
  do {
    const page = await agents.list({ accountId, search: name, limit: pageSize, after });
    const found = page.data.find(({ definition }) => definition.name === name);
    if (found) return found.id;
    after = page.next_cursor ?? undefined;
  } while (after !== undefined);
  return undefined;
}

/** The same where the name may be one of a model, which is undefined too. Rejects with `agent_not_found` for what is neither. */
export async function findAgentUnlessModel(
  agents: Pick<Agents, 'list'>,
  accountId: AccountId,
  name: string,
): Promise<AgentId | undefined> {
  const agent = await findNamedAgent(agents, accountId, name);
  if (!agent && !modelName.safeParse(name).success)
    throw new ApiError('agent_not_found', `There is no agent ${name}, and it is no model.`);
  return agent;
}
