import { type Agent, take } from '@rondo/client';
import { listEnvironment } from '@rondo/react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link, getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { useMay, useRondo } from '../session/use-session.ts';
import { age } from '../ui/amounts.ts';
import { Empty, Failure, Loading, NotAll } from '../ui/states.tsx';
import { useNow } from '../ui/use-now.ts';
import { AgentFilters } from './agent-filters.tsx';
import { AgentTabs } from '../ui/tabs.tsx';

const route = getRouteApi('/agents');

/** The stored agents of the account. */
export function AgentsPage() {
  const rondo = useRondo();
  const mayWrite = useMay('write');
  const search = route.useSearch();
  const [name, setName] = useState('');
  const isFiltered = name !== '' || search.tag !== undefined;
  const now = useNow();
  const { data, error, refetch } = useQuery({
    queryKey: ['agents', search, name],
    queryFn: () => take(rondo.agents.list({ limit: 100, ...search, ...(name !== '' && { search: name }) }), 300),
    placeholderData: keepPreviousData,
  });
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
  return (
    <>
      <div className="page-head">
        <h1>Agents</h1>
        <AgentTabs />
        {mayWrite && (
          <Link to="/agents/new" className="button">
            New agent
          </Link>
        )}
      </div>
      <AgentFilters search={search} onName={setName} />
      {!data && <Loading what="agents" />}
      {data?.items.length === 0 && (
        <Empty title={isFiltered ? 'No agent matches these filters.' : 'No agents yet.'}>
          <p>An agent is a model, instructions and tools under a name, in versions. Runs can do without one.</p>
        </Empty>
      )}
      <ul className="run-list agents" aria-label="Agents">
        {data?.items.map((agent) => (
          <AgentItem key={agent.id} agent={agent} now={now} />
        ))}
      </ul>
      <NotAll list={data} what="agents" />
    </>
  );
}

function AgentItem({ agent, now }: { readonly agent: Agent; readonly now: number }) {
  const { definition, version, latest_version: latest, updated_at: at } = agent;
  return (
    <li>
      <Link to="/agents/$agentId" params={{ agentId: agent.id }}>
        <span className="run-title" dir="auto">
          {definition.name} {agent.is_default && <span className="tag">default</span>}
          {agent.tags.map((tag) => (
            <span key={tag} className="tag">
              {`${tag} `}
            </span>
          ))}
        </span>
        <span className="run-facts">
          <span>
            version {version}
            {latest !== version && ` of ${latest}`}
          </span>
          {definition.model !== undefined && <span>{definition.model}</span>}
          <span>{definition.description ?? definition.task}</span>
          {definition.environment && <span>{listEnvironment(definition.environment).join(', ')}</span>}
        </span>
        <time dateTime={at} title={new Date(at).toLocaleString()}>
          changed {age(at, now)}
        </time>
      </Link>
    </li>
  );
}
