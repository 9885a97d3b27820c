import { type Run, take } from '@rondo/client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link, getRouteApi } from '@tanstack/react-router';
import { useMay, useRondo } from '../session/use-session.ts';
import { Empty, Failure, Loading } from '../ui/states.tsx';
import { useNow } from '../ui/use-now.ts';
import { BulkActions } from './bulk-actions.tsx';
import { RunFilters } from './run-filters.tsx';
import { RunsTabs } from '../ui/tabs.tsx';
import { type RunsSearch, isFiltered, toRunQuery } from '../searches.ts';
import { age, cost, count, isUsageKnown } from '../ui/amounts.ts';
import { describeTime } from './run-time.ts';
import { Status } from '../ui/status.tsx';
import { useRunTitle } from './run-title.ts';

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
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;

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
      {error && <Failure error={error} />}
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

interface RunItemProps {
  readonly run: Run;
  readonly now: number;
}

/** One line of the list. Like the page of the run it counts the time from when the run was asked for. */
function RunItem({ run, now }: RunItemProps) {
  const title = useRunTitle(run);
  const { name: agent } = run.settings.agent;
  const reader = run.steers?.is_read === true ? run.steers.run_id : undefined;
  return (
    <li className={reader && 'has-action'}>
      <Link to="/runs/$runId" params={{ runId: run.id }}>
        <Status status={run.status} finishReason={run.finish_reason} steers={run.steers} />
        <span className="run-title" dir="auto">
          {title ?? ' '}
        </span>
        <span className="run-facts">
          {agent !== undefined && <span>{agent}</span>}
          <span>{run.model}</span>
          {run.steers && (
            <span>{run.steers.is_read ? 'told to a run at work' : 'told to a run at work, not read yet'}</span>
          )}
          {run.user != null && <span dir="auto">for {run.user}</span>}
          {run.parent_run_id !== null && <span>started by a run</span>}
          {run.forked_from !== null && <span>a fork</span>}
          {!reader && <span>{run.iteration === 1 ? '1 iteration' : `${run.iteration} iterations`}</span>}
          {isUsageKnown(run.usage) && (
            <>
              <span>{count(run.usage.input_tokens + run.usage.output_tokens)} tokens</span>
              <span>{cost(run.usage.cost_usd)}</span>
            </>
          )}
          {run.started_at !== null && <span>{describeTime(run, now)}</span>}
        </span>
        <time dateTime={run.created_at} title={new Date(run.created_at).toLocaleString()}>
          {age(run.created_at, now)}
        </time>
      </Link>
      {reader !== undefined && (
        <Link to="/runs/$runId" params={{ runId: reader }} className="button quiet">
          The run that read it
        </Link>
      )}
    </li>
  );
}
