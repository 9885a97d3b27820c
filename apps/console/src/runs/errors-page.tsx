import { take } from '@rondo/client';
import { plainText } from '@rondo/react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link, getRouteApi } from '@tanstack/react-router';
import { useRondo } from '../session/use-session.ts';
import { age } from '../ui/amounts.ts';
import { Empty, Failure, Loading } from '../ui/states.tsx';
import { Table } from '../ui/table.tsx';
import { useNow } from '../ui/use-now.ts';
import { type EndingGroup, groupEndings } from './ending-groups.ts';
import { RunsTabs } from '../ui/tabs.tsx';

const route = getRouteApi('/runs/errors');
const most = 500;
const dayMs = 86_400_000;
const shownRuns = 3;
const unfinished = 'length,xml_tool_limit_reached,max_iterations,budget_exceeded,loop_detected';

const periods = [1, 7, 30] as const;

/** What ended runs before they were done, grouped by kind. */
export function ErrorsPage() {
  const { days = 7 } = route.useSearch();
  const { data, error, refetch } = useEndings(days);
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
  return (
    <>
      <div className="page-head">
        <h1>Errors</h1>
        <RunsTabs />
      </div>
      <div className="filters">
        <nav aria-label="Period">
          {periods.map((each) => (
            <Link
              key={each}
              to="/runs/errors"
              search={{ days: each }}
              aria-current={each === days ? 'true' : undefined}
            >
              {each === 1 ? 'Last day' : `Last ${each} days`}
            </Link>
          ))}
        </nav>
      </div>
      {!data && <Loading what="the errors" />}
      {data?.groups.length === 0 && <Empty title="No run failed or ended early in this time." />}
      {data && data.groups.length > 0 && <GroupTable groups={data.groups} />}
      {data?.hasMore === true && <p className="hint">Only the newest {most} of each kind of end are counted.</p>}
    </>
  );
}

function useEndings(days: number) {
  const rondo = useRondo();
  return useQuery({
    queryKey: ['endings', days],
    queryFn: async () => {
      const since = { created_from: new Date(Date.now() - days * dayMs).toISOString(), limit: 100 };
      const [failed, early] = await Promise.all([
        take(rondo.runs.list({ ...since, status: 'failed' }), most),
        take(rondo.runs.list({ ...since, finish_reason: unfinished }), most),
      ]);
      const runs = [...failed.items, ...early.items].sort((a, b) => b.created_at.localeCompare(a.created_at));
      return { groups: groupEndings(runs), hasMore: failed.hasMore || early.hasMore };
    },
    refetchInterval: 15_000,
    placeholderData: keepPreviousData,
  });
}

function GroupTable({ groups }: { readonly groups: readonly EndingGroup[] }) {
  const now = useNow();
  return (
    <Table label="Errors" columns={['Kind', 'The newest of them', 'Models', 'Last', ['Runs', 'number']]}>
      {groups.map((group) => (
        <GroupRow key={`${group.kind} ${group.sentence}`} group={group} now={now} />
      ))}
    </Table>
  );
}

interface GroupRowProps {
  readonly group: EndingGroup;
  readonly now: number;
}

function GroupRow({ group: { kind, sentence, models, runs }, now }: GroupRowProps) {
  const [newest] = runs;
  return (
    <tr>
      <th scope="row">
        <code>{kind}</code>
      </th>
      <td dir="auto">{plainText(sentence)}</td>
      <td>{models.join(', ')}</td>
      <td className="nowrap">{newest && age(newest.created_at, now)}</td>
      <td className="number">
        {runs.length}
        <span className="newest-runs">
          {runs.slice(0, shownRuns).map(({ id }) => (
            <Link key={id} to="/runs/$runId" params={{ runId: id }} search={{}} title={id}>
              …{id.slice(-4)}
            </Link>
          ))}
        </span>
      </td>
    </tr>
  );
}
