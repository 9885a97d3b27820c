import { type AccountId, type AgentId, agentId } from '@rondo/contract';
import type { Agents } from '@rondo/persistence';

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
