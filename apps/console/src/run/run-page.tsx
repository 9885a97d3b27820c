import { type Run, type RunFailure, isOver } from '@rondo/client';
import { useQuery } from '@tanstack/react-query';
import { Link, getRouteApi, useNavigate } from '@tanstack/react-router';
import { useCallback, useEffect, useState } from 'react';
import { KnownModels } from '../new-run/known-models.tsx';
import { useMay, useRondo } from '../session/use-session.ts';
import { isMissing } from '../ui/problem-text.ts';
import { Empty, FailurePage, Loading } from '../ui/states.tsx';
import { AnswerBox } from './answer-box.tsx';
import { ForkDialog, type ForkPlace } from './fork-dialog.tsx';
import { RetryDialog } from './retry-dialog.tsx';
import { SecretApprovals } from './approval-card.tsx';
import { RunAside } from './run-aside.tsx';
import { type FedRun, useRunFeed } from './run-feed.ts';
import { RunHead } from './run-head.tsx';
import { useRunLinks, TimelineLinksContext } from './timeline-links.ts';
import { type LogEnd, Scrubber } from './scrubber.tsx';
import { StopCard } from './stop-card.tsx';
import { Timeline } from './timeline.tsx';
import { WaterfallView } from './waterfall-view.tsx';

const route = getRouteApi('/runs/$runId');
const childrenRefreshMs = 2_000;

/** One run: what it does now, or what it had done at the fact that the address names. */
export function RunPage() {
  const { runId } = route.useParams();
  return <OneRun key={runId} runId={runId} />;
}

function OneRun({ runId }: { readonly runId: string }) {
  const { seq, view: form } = route.useSearch();
  const { now, shown } = useRunFeed(runId, seq);
  const { data: run, error } = useRun(runId, now);
  const mayWrite = useMay('write');
  const navigate = useNavigate();
  const [forked, setForked] = useState<ForkPlace | null>(null);
  const [isAskedAgain, setAskedAgain] = useState(false);
  const fork = useCallback((atSeq: number, iteration: number) => setForked({ atSeq, iteration }), []);
  const links = useRunLinks({ run, ...shown, fork });

  const failure = isMissing(error) ? error : now.view.lastSeq === 0 ? now.error : null;
  if (failure !== null) return <FailurePage error={failure} list={{ to: '/runs', name: 'All runs' }} />;
  if (!run || now.view.lastSeq === 0) return <Loading what="the run" />;
  const { view, details } = shown;
  const isNow = shown === now;
  const forkHere = mayWrite ? () => setForked({ atSeq: view.lastSeq, iteration: null }) : undefined;
  return (
    <TimelineLinksContext value={links}>
      <div className="run-page">
        <RunHead
          run={run}
          view={view}
          details={details}
          now={now}
          isNow={isNow}
          fork={forkHere}
          askAgain={mayWrite && isNow ? () => setAskedAgain(true) : undefined}
        />
        <div className="run-body">
          <div className="run-main">
            {form === 'waterfall' ? (
              <WaterfallView facts={now.facts} view={view} isNow={isNow} />
            ) : run.steers && view.rows.length === 0 ? (
              <ToldMessage run={run} steers={run.steers} />
            ) : (
              <Timeline rows={view.rows} details={details} follows={isNow && !view.isOver} />
            )}
            {run.steers?.is_read !== true && <StopCard view={view} details={details} />}
            <div className="requests" hidden={!isNow}>
              <Requests run={run} {...now} />
            </div>
            {view.failure && <Failure failure={view.failure} />}
          </div>
          <RunAside run={run} view={view} details={details} />
        </div>
        <Scrubber facts={now.facts} lastSeq={now.view.lastSeq} seq={seq} end={toEnd(now)} />
        {forked && <ForkDialog run={run} place={forked} onClose={() => setForked(null)} />}
        {isAskedAgain && (
          <RetryDialog
            runId={runId}
            isActive={!now.view.isOver}
            onClose={() => setAskedAgain(false)}
            onBegun={({ id }) => navigate({ to: '/runs/$runId', params: { runId: id }, search: {} })}
          />
        )}
      </div>
    </TimelineLinksContext>
  );
}

/** Where the message of a run is read that has nothing to show, because it was told to the run at work. */
function ToldMessage({ run, steers }: { readonly run: Run; readonly steers: NonNullable<Run['steers']> }) {
  return (
    <Empty
      title={steers.is_read ? 'The run at work has read this message' : 'This message was told to the run at work'}
    >
      <p>
        {steers.is_read
          ? 'What follows from it is in that run, and nothing was left to do for this one.'
          : 'That run reads it before its next iteration. If it ends before, this one begins with it.'}
      </p>
      <p>
        <Link to="/runs/$runId" params={{ runId: steers.run_id }} className="button">
          {steers.is_read ? 'The run that read it' : 'The run at work'}
        </Link>{' '}
        <Link to="/threads/$threadId" params={{ threadId: run.thread_id }} className="button">
          Conversation
        </Link>
      </p>
    </Empty>
  );
}

/** What the run asks people for. */
function Requests({ run, view, details }: Pick<FedRun, 'view' | 'details'> & { readonly run: Run }) {
  return (
    <>
      {view.waiting && (
        <AnswerBox
          runId={run.id}
          waiting={view.waiting}
          browserThreadId={details.screens.length > 0 ? run.thread_id : undefined}
        />
      )}
      {!view.isOver && <SecretApprovals rows={view.rows} />}
    </>
  );
}

/** The codes of a model that its provider does not have, or cannot use so. */
const wrongModel: readonly string[] = ['not_found', 'model_not_supported'];

function Failure({ failure: { code, title, message } }: { readonly failure: RunFailure }) {
  return (
    <div className="failure" role="alert" tabIndex={0}>
      <p>
        <strong>{title ?? code}.</strong> {message}
      </p>
      {wrongModel.includes(code) && <KnownModels />}
    </div>
  );
}

/** Read again when its status changes, and while runs that it has started go on. */
function useRun(runId: string, { view }: FedRun) {
  const rondo = useRondo();
  const query = useQuery({
    queryKey: ['run', runId],
    queryFn: ({ signal }) => rondo.runs.get(runId, { signal }),
    refetchInterval: ({ state }) =>
      state.data?.children?.every(isOver) === false || state.data?.status === 'waiting_child'
        ? childrenRefreshMs
        : false,
  });
  const { refetch } = query;
  useEffect(() => void refetch(), [view.status, refetch]);
  return query;
}

/** What the last stroke of the bar is. */
function toEnd({ view, connection }: FedRun): LogEnd {
  if (view.isOver) return 'The end';
  if (connection !== 'live') return 'No connection';
  return view.waiting === null ? 'Live' : 'Waiting';
}
