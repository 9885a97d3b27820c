import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useRondo } from '../session/use-session.ts';
import { take } from '@rondo/client';
import { type AgentsSearch, agentSorts } from '../searches.ts';

const route = getRouteApi('/agents');

interface AgentFiltersProps {
  readonly search: AgentsSearch;
  readonly onName: (part: string) => void;
}

/** The tag and the order are in the address; the part of a name is not. */
export function AgentFilters({ search, onName }: AgentFiltersProps) {
  const navigate = route.useNavigate();
  const tags = useTags(search.tag);
  const show = (change: { readonly [Name in keyof AgentsSearch]?: AgentsSearch[Name] | undefined }) => {
    const given = Object.entries({ ...search, ...change }).filter(([, value]) => value !== undefined);
    void navigate({ search: Object.fromEntries(given), replace: true });
  };
  return (
    <div className="filters agent-filters">
      <select
        aria-label="Tag"
        value={search.tag ?? ''}
        onChange={({ currentTarget }) => show({ tag: currentTarget.value || undefined })}
      >
        <option value="">all tags</option>
        {tags.map((tag) => (
          <option key={tag} value={tag}>
            {tag}
          </option>
        ))}
      </select>
      <select
        aria-label="Order"
        value={search.sort ?? 'created_at'}
        onChange={({ currentTarget }) => show({ sort: agentSorts.find(([sort]) => sort === currentTarget.value)?.[0] })}
      >
        {agentSorts.map(([sort, words]) => (
          <option key={sort} value={sort}>
            {words}
          </option>
        ))}
      </select>
      <input
        dir="auto"
        type="search"
        aria-label="A part of the name"
        placeholder="Search names"
        onChange={({ currentTarget }) => onName(currentTarget.value.trim())}
      />
    </div>
  );
}

/** Of the newest agents; the chosen one is always among them. */
function useTags(chosen: string | undefined): string[] {
  const rondo = useRondo();
  const { data } = useQuery({
    queryKey: ['agents', 'tags'],
    queryFn: () => take(rondo.agents.list({ limit: 100 }), 300),
    staleTime: 10_000,
  });
  const all = data?.items.flatMap(({ tags }) => tags) ?? [];
  return [...new Set([...all, ...(chosen === undefined ? [] : [chosen])])].sort();
}
