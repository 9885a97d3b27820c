import { type Project, take } from '@rondo/client';
import { useQuery } from '@tanstack/react-query';
import { useRondo } from '../session/use-session.ts';

const most = 300;

interface Projects {
  /** The chosen one is always among them. */
  readonly projects: readonly Pick<Project, 'id' | 'name'>[];
  readonly hasMore: boolean;
}

/** The newest projects of the account. */
export function useProjects(chosen: string | undefined): Projects {
  const rondo = useRondo();
  const { data } = useQuery({
    queryKey: ['projects'],
    queryFn: () => take(rondo.projects.list({ limit: 100 }), most),
    staleTime: 30_000,
  });
  const { items = [], hasMore = false } = data ?? {};
  const isAbsent = chosen !== undefined && !items.some(({ id }) => id === chosen);
  return { projects: isAbsent ? [{ id: chosen, name: chosen }, ...items] : items, hasMore };
}
