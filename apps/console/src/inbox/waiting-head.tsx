import type { InboxItem, Run } from '@rondo/client';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useRunTitle } from '../runs/run-title.ts';
import { useRondo } from '../session/use-session.ts';
import { between, duration } from '../ui/amounts.ts';
import { useNow } from '../ui/use-now.ts';

/** Which run waits, of which model and agent, and since when. */
export function WaitingHead({ item }: { readonly item: InboxItem }) {
  const rondo = useRondo();
  const { data: run } = useQuery({
    queryKey: ['run', item.id],
    queryFn: ({ signal }) => rondo.runs.get(item.id, { signal }),
  });
  const { data: why } = useQuery({
    queryKey: ['why', item.id, item.status, item.waiting],
    queryFn: ({ signal }) => rondo.runs.why(item.id, { signal }),
  });
  return (
    <header>
      <h2>
        <Link to="/runs/$runId" params={{ runId: item.id }}>
          {run ? <Title run={run} /> : item.id}
        </Link>
      </h2>
      <p className="run-facts">
        {run && <span>{run.model}</span>}
        {run && <span>{toAgent(run)}</span>}
        {why && <Waited since={why.since} />}
      </p>
    </header>
  );
}

function Title({ run }: { readonly run: Run }) {
  return <bdi>{useRunTitle(run) ?? run.id}</bdi>;
}

const toAgent = ({ settings, profile, agent_version: version }: Run): string =>
  `${settings.agent.name ?? profile}${version === null ? '' : `, version ${version}`}`;

function Waited({ since }: { readonly since: string }) {
  const now = useNow();
  return (
    <time dateTime={since} title={new Date(since).toLocaleString()}>
      has waited {duration(Math.max(0, between(since, new Date(now).toISOString())))}
    </time>
  );
}
