import { type AccountId, type AgentId, agentId } from '@rondo/contract';
import type { Agents } from '@rondo/persistence';
import { ApiError } from '../problems/api-error';
import type { RunRequest } from '../runs/run-service';
import type { RunSettingsResolver } from '../settings/run-settings';

/** A stored agent by its id or its whole name. Undefined where no agent has that name. */
export async function findNamedAgent(
  agents: Pick<Agents, 'findId'>,
  accountId: AccountId,
  name: string,
): Promise<AgentId | undefined> {
  return agentId.safeParse(name).data ?? agents.findId(accountId, name);
}

interface NamesDependencies {
  readonly agents: Pick<Agents, 'findId'>;
  readonly settings: Pick<RunSettingsResolver, 'isModelName'>;
}

/** What a run begins with that names a stored agent or a model. Rejects with `agent_not_found` for what is neither. */
export async function chooseByName(
  { agents, settings }: NamesDependencies,
  accountId: AccountId,
  name: string,
): Promise<Pick<RunRequest, 'agent_id' | 'model'>> {
  const agent = await findNamedAgent(agents, accountId, name);
  if (agent) return { agent_id: agent };
  if (settings.isModelName(name)) return { model: name };
  throw new ApiError('agent_not_found', `There is no agent ${name}, and it is no model.`);
}
