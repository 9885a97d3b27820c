import { type Thread, take } from '@rondo/client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link, getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { useMay, useRondo } from '../session/use-session.ts';
import { age } from '../ui/amounts.ts';
import { SearchField } from '../ui/fields.tsx';
import { Empty, Failure, Loading } from '../ui/states.tsx';
import { Status } from '../ui/status.tsx';
import { useNow } from '../ui/use-now.ts';
import { RenameDialog } from './rename-dialog.tsx';
import { nameThread } from './thread-title.ts';
import { useProjects } from './use-projects.ts';
import type { ThreadsSearch } from '../searches.ts';

const route = getRouteApi('/threads');
const pageSize = 30;
const refreshMs = 5_000;

/** The conversations of the account, newest first. One request reads all that their rows show. */
export function ThreadsPage() {
  const search = route.useSearch();
  const { shown = pageSize } = search;
  const navigate = route.useNavigate();
  const { data, error, refetch } = useThreads(search, shown);
  const { projects, hasMore } = useProjects(search.project);
  const mayWrite = useMay('write');
  const [renamed, setRenamed] = useState<Thread | null>(null);
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;

  const showMore = () =>
    void navigate({ search: { ...search, shown: shown + pageSize }, replace: true, resetScroll: false });
  return (
    <>
      <div className="page-head">
        <h1>Threads</h1>
        {mayWrite && (
          <Link to="/threads/new" className="button primary">
            New thread
          </Link>
        )}
      </div>
      <ThreadFilters search={search} projects={projects} hasMoreProjects={hasMore} />
      {error && <Failure error={error} />}
      {data ? (
        <ThreadList threads={data.items} projects={projects} rename={mayWrite ? setRenamed : undefined} />
      ) : (
        <Loading what="threads" />
      )}
      {data?.items.length === 0 && <NoThreads isFiltered={Object.keys(search).some((name) => name !== 'shown')} />}
      {data?.hasMore === true && <button onClick={showMore}>Show older threads</button>}
      {renamed && <RenameDialog thread={renamed} onClose={() => setRenamed(null)} />}
    </>
  );
}

function useThreads({ text, project, user }: ThreadsSearch, shown: number) {
  const rondo = useRondo();
  const query = {
    ...(text !== undefined && { q: text }),
    ...(project !== undefined && { project_id: project }),
    ...(user !== undefined && { user }),
    limit: pageSize,
  };
  return useQuery({
    queryKey: ['threads', text, project, user, shown],
    queryFn: () => take(rondo.threads.list(query), shown),
    refetchInterval: refreshMs,
    placeholderData: keepPreviousData,
  });
}

interface ThreadFiltersProps {
  readonly search: ThreadsSearch;
  readonly hasMoreProjects: boolean;
  readonly projects: ReturnType<typeof useProjects>['projects'];
}

function ThreadFilters({ search: { text, project, user }, projects, hasMoreProjects }: ThreadFiltersProps) {
  const navigate = route.useNavigate();
  const show = (wanted: Omit<ThreadsSearch, 'shown'>) => {
    const given = Object.entries({ text, project, user, ...wanted }).filter(([, value]) => value);
    void navigate({ search: Object.fromEntries(given), replace: true });
  };
  return (
    <div className="filters">
      {projects.length > 0 && (
        <select
          aria-label="Project"
          value={project ?? ''}
          onChange={({ currentTarget }) => show({ project: currentTarget.value })}
        >
          <option value="">All projects</option>
          {projects.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
          {hasMoreProjects && <option disabled>These are the newest {projects.length}</option>}
        </select>
      )}
      <SearchField
        label="Words of the title or of what was asked"
        placeholder="Search titles and questions"
        value={text}
        search={(wanted) => show({ text: wanted })}
      />
      {user !== undefined && (
        <span className="chip">
          for <span dir="auto">{user}</span>{' '}
          <button className="quiet" aria-label="Threads of all users" onClick={() => show({ user: '' })}>
            ×
          </button>
        </span>
      )}
    </div>
  );
}

function NoThreads({ isFiltered }: { readonly isFiltered: boolean }) {
  const mayWrite = useMay('write');
  if (isFiltered) return <Empty title="No thread matches these filters." />;
  return (
    <Empty title="No threads yet.">
      <p>A thread is a conversation with an agent: what was said, its runs and its files.</p>
      {mayWrite && (
        <p>
          <Link to="/threads/new" className="button primary">
            Begin the first one
          </Link>
        </p>
      )}
    </Empty>
  );
}

interface ThreadListProps {
  readonly threads: readonly Thread[];
  readonly projects: ReturnType<typeof useProjects>['projects'];
  /** Absent: the reader may not. */
  readonly rename: ((thread: Thread) => void) | undefined;
}

function ThreadList({ threads, projects, rename }: ThreadListProps) {
  const now = useNow();
  const names = new Map(projects.map(({ id, name }) => [id, name]));
  return (
    <ul className="run-list" aria-label="Threads">
      {threads.map((thread) => (
        <li key={thread.id} className={rename && 'has-action'}>
          <ThreadLink thread={thread} now={now} project={names.get(thread.project_id ?? '')} />
          {rename && (
            <button
              className="quiet"
              aria-label={`Rename ${nameThread(thread) ?? thread.id}`}
              onClick={() => rename(thread)}
            >
              Rename
            </button>
          )}
        </li>
      ))}
    </ul>
  );
}

interface ThreadLinkProps {
  readonly thread: Thread;
  readonly now: number;
  readonly project: string | undefined;
}

function ThreadLink({ thread, now, project }: ThreadLinkProps) {
  const { newest_run: run } = thread;
  const at = run?.created_at ?? thread.created_at;
  return (
    <Link to="/threads/$threadId" params={{ threadId: thread.id }}>
      {run ? <Status status={run.status} finishReason={run.finish_reason} /> : <span className="status">Idle</span>}
      <span className="run-title" dir="auto">
        {nameThread(thread) ?? 'No messages yet'}
      </span>
      <span className="run-facts">
        {project !== undefined && <span>{project}</span>}
        {thread.user != null && <span dir="auto">for {thread.user}</span>}
        {run?.agent_name != null && <span>{run.agent_name}</span>}
        {run && <span>{run.model}</span>}
        {thread.is_public && <span>shared</span>}
      </span>
      <time dateTime={at} title={new Date(at).toLocaleString()}>
        {age(at, now)}
      </time>
    </Link>
  );
}
