import { type MemoryStore, take } from '@rondo/client';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useRondo } from '../session/use-session.ts';

const most = 300;

/** The projects and agents that can have stores, by their ids. */
export function useOwners() {
  const rondo = useRondo();
  const { data } = useQuery({
    queryKey: ['owners of memory'],
    queryFn: async () => {
      const [projects, agents] = await Promise.all([
        take(rondo.projects.list({ limit: 100 }), most),
        take(rondo.agents.list({ limit: 100 }), most),
      ]);
      return {
        projects: new Map(projects.items.map(({ id, name }) => [id, name])),
        agents: new Map(agents.items.map(({ id, definition }) => [id, definition.name])),
      };
    },
    staleTime: 30_000,
  });
  return data ?? none;
}

export type Owners = ReturnType<typeof useOwners>;

const none: { readonly [Kind in 'projects' | 'agents']: ReadonlyMap<string, string> } = {
  projects: new Map(),
  agents: new Map(),
};

interface StoreScopeProps {
  readonly store: MemoryStore;
  readonly owners: Owners;
}

/** Whose runs can use a store. */
export function StoreScope({ store, owners }: StoreScopeProps) {
  const { project_id: project, agent_id: agent, user } = store;
  if (user !== null)
    return (
      <>
        user{' '}
        <Link to="/users/$user" params={{ user }} dir="auto">
          {user}
        </Link>
      </>
    );
  if (agent !== null)
    return (
      <>
        agent{' '}
        <Link to="/agents/$agentId" params={{ agentId: agent }} dir="auto">
          {owners.agents.get(agent) ?? agent}
        </Link>
      </>
    );
  if (project !== null)
    return (
      <>
        project <span dir="auto">{owners.projects.get(project) ?? project}</span>
      </>
    );
  return 'the account';
}
