import type { Run } from '@rondo/client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link, getRouteApi } from '@tanstack/react-router';
import { useMay } from '../session/use-may.ts';
import { useRondo } from '../session/use-session.ts';
import { Empty, Failed, Loading } from '../ui/states.tsx';
import { take } from '../ui/take.ts';
import { useNow } from '../ui/use-now.ts';
import { RunFilters } from './run-filters.tsx';
import { RunItem } from './run-item.tsx';
import type { RunsSearch } from './runs-search.ts';

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
  if (error && !data) return <Failed error={error} retry={() => void refetch()} />;

  return (
    <>
      <div className="page-head">
        <h1>Runs</h1>
      </div>
      <RunFilters search={search} />
      {error && <Failed error={error} />}
      {data ? <RunList runs={data.items} search={search} now={now} /> : <Loading what="runs" />}
      {data?.hasMore === true && <button onClick={() => void showMore()}>Show older runs</button>}
    </>
  );
}

function useRuns({ status, thread, text }: RunsSearch, shown: number) {
  const rondo = useRondo();
  const query = {
    ...(status && { status }),
    ...(thread !== undefined && { thread_id: thread }),
    ...(text !== undefined && { q: text }),
    limit: pageSize,
  };
  return useQuery({
    queryKey: ['runs', status, thread, text, shown],
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
  if (runs.length === 0) return <NoRuns isFiltered={Object.keys(search).some((name) => name !== 'shown')} />;
  return (
    <ul className="run-list" aria-label="Runs">
      {runs.map((run) => (
        <RunItem key={run.id} run={run} now={now} />
      ))}
    </ul>
  );
}

function NoRuns({ isFiltered }: { readonly isFiltered: boolean }) {
  if (isFiltered) return <Empty title="No run matches these filters." />;
  return <NoRunsYet />;
}

function NoRunsYet() {
  const mayWrite = useMay('write');
  return (
    <Empty title="No runs yet.">
      {mayWrite && (
        <p>
          <Link to="/threads/new" className="button primary">
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
