import type { Run, Thread } from '@rondo/client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link, getRouteApi } from '@tanstack/react-router';
import { useMay } from '../session/use-may.ts';
import { useRondo } from '../session/use-session.ts';
import { age } from '../ui/amounts.ts';
import { Empty, Failed, Loading } from '../ui/states.tsx';
import { Status } from '../ui/status.tsx';
import { take } from '../ui/take.ts';
import { useNow } from '../ui/use-now.ts';
import { useThreadTitle } from './thread-title.ts';

const route = getRouteApi('/threads');
const pageSize = 30;

/** The conversations of the account, newest first. */
export function ThreadsPage() {
  const rondo = useRondo();
  const { shown = pageSize } = route.useSearch();
  const navigate = route.useNavigate();
  const showMore = () => navigate({ search: { shown: shown + pageSize }, replace: true, resetScroll: false });
  const { data, error, refetch } = useQuery({
    queryKey: ['threads', shown],
    queryFn: () => take(rondo.threads.list({ limit: pageSize }), shown),
    refetchInterval: 5_000,
    placeholderData: keepPreviousData,
  });
  const newestRuns = useNewestRuns();
  const mayWrite = useMay('write');
  const now = useNow();
  if (error && !data) return <Failed error={error} retry={() => void refetch()} />;

  return (
    <>
      <div className="page-head">
        <h1>Threads</h1>
        {mayWrite && (
          <Link to="/threads/new" className="button">
            New thread
          </Link>
        )}
      </div>
      {!data && <Loading what="threads" />}
      {data?.items.length === 0 && <Empty title="No threads yet.">Each run is on a thread; start one.</Empty>}
      <ul className="run-list" aria-label="Threads">
        {data?.items.map((thread) => (
          <ThreadItem key={thread.id} thread={thread} run={newestRuns.get(thread.id)} now={now} />
        ))}
      </ul>
      {data?.hasMore === true && <button onClick={() => void showMore()}>Show older threads</button>}
    </>
  );
}

/** The newest run of each thread, of those that ran lately. */
function useNewestRuns(): ReadonlyMap<string, Run> {
  const rondo = useRondo();
  const { data } = useQuery({
    queryKey: ['runs', 'of threads'],
    queryFn: () => take(rondo.runs.list({ limit: 100 }), 100),
    refetchInterval: 3_000,
  });
  return new Map(data?.items.toReversed().map((run) => [run.thread_id, run]));
}

interface ThreadItemProps {
  readonly thread: Thread;
  readonly run: Run | undefined;
  readonly now: number;
}

function ThreadItem({ thread, run, now }: ThreadItemProps) {
  const title = useThreadTitle(thread);
  const at = run?.created_at ?? thread.created_at;
  return (
    <li>
      <Link to="/threads/$threadId" params={{ threadId: thread.id }}>
        {run ? <Status status={run.status} finishReason={run.finish_reason} /> : <span className="status">Idle</span>}
        <span className="run-title" dir="auto">
          {title ?? ' '}
        </span>
        <span className="run-facts">
          {run && <span>{run.settings.agent.name ?? run.profile}</span>}
          {run && <span>{run.model}</span>}
        </span>
        <time dateTime={at} title={new Date(at).toLocaleString()}>
          {age(at, now)}
        </time>
      </Link>
    </li>
  );
}
