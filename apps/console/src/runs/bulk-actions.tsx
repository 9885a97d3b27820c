import { type Rondo, type Run, isOver, take } from '@rondo/client';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { readRequest } from '../new-run/run-request.ts';
import { useRondo } from '../session/use-session.ts';
import { Modal } from '../ui/modal.tsx';
import { problemText } from '../ui/problem-text.ts';
import { Failure, Loading } from '../ui/states.tsx';
import { useRefreshKey } from '../ui/use-refresh-key.ts';
import { type RunsSearch, toRunQuery } from '../searches.ts';
import { type Progress, workThrough } from './work-through.ts';

const most = 1_000;
const shownProblems = 5;

interface BulkAction {
  readonly name: string;
  /** What is done, for a number of things such as “12 runs”. */
  readonly question: (count: string) => string;
  /** What the work is done to. */
  readonly toIds: (runs: readonly Run[]) => readonly string[];
  readonly noun: string;
  /** Of the buttons: what takes something away looks like it. */
  readonly className: 'primary' | 'danger';
  readonly work: (rondo: Rondo, id: string) => Promise<unknown>;
}

const actions: readonly BulkAction[] = [
  {
    name: 'Stop all',
    question: (count) => `Stop ${count} that are not over?`,
    toIds: (runs) => runs.filter((run) => !isOver(run)).map(({ id }) => id),
    noun: 'run',
    className: 'danger',
    work: (rondo, id) => rondo.runs.stop(id, { reason: 'Stopped in the console, with others.' }),
  },
  {
    name: 'Run all again',
    question: (count) => `Start ${count} again that are over, each with its input and settings, on a new thread?`,
    toIds: (runs) => runs.filter(isOver).map(({ id }) => id),
    noun: 'run',
    className: 'primary',
    work: async (rondo, id) => rondo.runs.create(await readRequest(rondo, id)),
  },
  {
    name: 'Delete all',
    question: (count) => `Delete ${count}, with all of their runs, messages and files? A thread at work is left.`,
    toIds: (runs) => [...new Set(runs.map(({ thread_id: id }) => id))],
    noun: 'thread',
    className: 'danger',
    work: (rondo, id) => rondo.threads.delete(id),
  },
];

/** What can be done with all runs that the filters leave, also those that the page does not show. Of no runs, only what is under way. */
export function BulkActions({ search, isEmpty }: { readonly search: RunsSearch; readonly isEmpty: boolean }) {
  const [action, setAction] = useState<BulkAction | null>(null);
  return (
    <div className="bulk" role="group" aria-label="With all runs of this list">
      {(isEmpty ? [] : actions).map((one) => (
        <button
          key={one.name}
          className={one.className === 'danger' ? 'quiet danger' : 'quiet'}
          onClick={() => setAction(one)}
        >
          {one.name}
        </button>
      ))}
      {action && <BulkDialog action={action} search={search} onClose={() => setAction(null)} />}
    </div>
  );
}

interface BulkDialogProps {
  readonly action: BulkAction;
  readonly search: RunsSearch;
  readonly onClose: () => void;
}

/** Closing it ends the work after what is under way. */
function BulkDialog({ action, search, onClose }: BulkDialogProps) {
  const rondo = useRondo();
  const { data, error, refetch } = useQuery({
    queryKey: ['runs', 'all of', search],
    queryFn: () => take(rondo.runs.list({ ...toRunQuery(search), limit: 200 }), most),
    staleTime: 0,
    gcTime: 0,
    refetchOnWindowFocus: false,
  });
  return (
    <Modal title={action.name} onClose={onClose}>
      {(close) => (
        <>
          {error && <Failure error={error} retry={() => void refetch()} />}
          {!data && !error && <Loading what="the runs" />}
          {data?.hasMore === true && <p className="hint">Only the newest {most} runs of the list are meant.</p>}
          {data && <BulkWork action={action} ids={action.toIds(data.items)} close={close} />}
        </>
      )}
    </Modal>
  );
}

interface BulkWorkProps {
  readonly action: BulkAction;
  readonly ids: readonly string[];
  readonly close: () => void;
}

function BulkWork({ action: { name, noun, question, className, work }, ids: found, close }: BulkWorkProps) {
  const rondo = useRondo();
  const refreshKey = useRefreshKey();
  const [ids] = useState(found); // what is confirmed, whatever the list becomes
  const [progress, setProgress] = useState<Progress | null>(null);
  const given = useRef(new AbortController());
  useEffect(() => {
    const { current } = given;
    return () => current.abort();
  }, []);
  const count = ids.length === 1 ? `1 ${noun}` : `${ids.length} ${noun}s`;
  const start = async () => {
    setProgress({ done: 0, of: ids.length, failed: [] });
    await workThrough(ids, (id) => work(rondo, id), { onProgress: setProgress, signal: given.current.signal });
    await Promise.all([refreshKey(['runs']), refreshKey(['threads'])]);
  };
  const isDone = progress !== null && progress.done + progress.failed.length === progress.of;
  return (
    <>
      <p>{ids.length === 0 ? `There is no ${noun} in this list for that.` : question(count)}</p>
      {progress && <Outcome progress={progress} />}
      <div className="actions">
        {ids.length > 0 && !isDone && (
          <button className={className} disabled={progress !== null} onClick={() => void start()}>
            {name}
          </button>
        )}
        <button autoFocus onClick={close}>
          {isDone || ids.length === 0 ? 'Close' : 'Cancel'}
        </button>
      </div>
    </>
  );
}

function Outcome({ progress: { done, of, failed } }: { readonly progress: Progress }) {
  return (
    <>
      <p role="status" aria-live={done + failed.length === of ? 'polite' : 'off'}>
        {done} of {of} done{failed.length > 0 && `, ${failed.length} refused`}.
      </p>
      <progress max={of} value={done + failed.length} aria-label="How many are done" />
      {failed.slice(0, shownProblems).map(({ id, problem }) => (
        <p key={id} className="problem">
          <code>{id}</code>: {problemText(problem)}
        </p>
      ))}
    </>
  );
}
