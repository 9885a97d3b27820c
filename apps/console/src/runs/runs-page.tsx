import { type Run, take } from '@rondo/client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link, getRouteApi } from '@tanstack/react-router';
import { useMay } from '../session/use-may.ts';
import { useRondo } from '../session/use-session.ts';
import { Empty, Failed, Loading } from '../ui/states.tsx';
import { useNow } from '../ui/use-now.ts';
import { BulkActions } from './bulk-actions.tsx';
import { RunFilters } from './run-filters.tsx';
import { RunItem } from './run-item.tsx';
import { RunsTabs } from './runs-tabs.tsx';
import { type RunsSearch, isFiltered, toRunQuery } from './runs-search.ts';

const route = getRouteApi('/runs');
const pageSize = 40;
const refreshMs = 2_000;

/** The runs of the account, newest first, read again every two seconds. */
export function RunsPage() {
  const search = route.useSearch();
  const { shown = pageSize } = search;
  const navigate = route.useNavigate();
  const showMore = () =>
    navigate({ search: (before) => ({ ...before, shown: shown + pageSize }), replace: true, resetScroll: false });
  const { data, error, refetch } = useRuns(search, shown);
  const now = useNow();
  const mayWrite = useMay('write');
  if (error && !data) return <Failed error={error} retry={() => void refetch()} />;

  return (
    <>
      <div className="page-head">
        <h1>Runs</h1>
        <RunsTabs />
        {mayWrite && (
          <Link to="/runs/new" search={{}} className="button primary">
            New run
          </Link>
        )}
      </div>
      <RunFilters search={search} />
      {error && <Failed error={error} />}
      {mayWrite && data && <BulkActions search={search} isEmpty={data.items.length === 0} />}
      {data ? <RunList runs={data.items} search={search} now={now} /> : <Loading what="runs" />}
      {data?.hasMore === true && <button onClick={() => void showMore()}>Show older runs</button>}
    </>
  );
}

function useRuns(search: RunsSearch, shown: number) {
  const rondo = useRondo();
  const query = { ...toRunQuery(search), limit: pageSize };
  return useQuery({
    queryKey: ['runs', query, shown],
    queryFn: () => take(rondo.runs.list(query), shown),
    refetchInterval: refreshMs,
    placeholderData: keepPreviousData,
  });
}

interface RunListProps {
  readonly runs: readonly Run[];
  readonly search: RunsSearch;
  readonly now: number;
}

function RunList({ runs, search, now }: RunListProps) {
  if (runs.length === 0) return <NoRuns hasFilters={isFiltered(search)} />;
  return (
    <ul className="run-list" aria-label="Runs">
      {runs.map((run) => (
        <RunItem key={run.id} run={run} now={now} />
      ))}
    </ul>
  );
}

function NoRuns({ hasFilters }: { readonly hasFilters: boolean }) {
  if (hasFilters) return <Empty title="No run matches these filters." />;
  return <NoRunsYet />;
}

function NoRunsYet() {
  const mayWrite = useMay('write');
  return (
    <Empty title="No runs yet.">
      {mayWrite && (
        <p>
          <Link to="/runs/new" search={{}} className="button">
            Start a run
          </Link>
        </p>
      )}
      <p>
        Or by command: <code>npx rondo run "Write a small program and run it."</code>
      </p>
    </Empty>
  );
}
