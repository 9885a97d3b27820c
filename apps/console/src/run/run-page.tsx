import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useRondo } from '../session/use-session.ts';
import { Failed, Loading } from '../ui/states.tsx';
import { AnswerBox } from './answer-box.tsx';
import { RunAside } from './run-aside.tsx';
import { RunHead } from './run-head.tsx';
import { Scrubber } from './scrubber.tsx';
import { StopCard } from './stop-card.tsx';
import { Timeline } from './timeline.tsx';
import { useRunFeed } from './use-run-feed.ts';

const route = getRouteApi('/runs/$runId');

/** One run: what it does now, or what it had done at the fact that the address names. */
export function RunPage() {
  const { runId } = route.useParams();
  return <OneRun key={runId} runId={runId} />;
}

function OneRun({ runId }: { readonly runId: string }) {
  const { seq } = route.useSearch();
  const rondo = useRondo();
  const { now, shown } = useRunFeed(runId, seq);
  const { data: run, refetch } = useQuery({
    queryKey: ['run', runId],
    queryFn: ({ signal }) => rondo.runs.get(runId, { signal }),
  });
  useEffect(() => void refetch(), [now.view.status, refetch]);

  if (now.error !== null && now.view.lastSeq === 0) return <Failed error={now.error} />;
  if (!run || now.view.lastSeq === 0) return <Loading what="the run" />;
  const { view, details } = shown;
  const isNow = shown === now;
  return (
    <div className="run-page">
      <RunHead run={run} view={view} details={details} now={now} isNow={isNow} />
      <div className="run-body">
        <div className="run-main">
          <Timeline rows={view.rows} details={details} follows={isNow && !view.isOver} />
          <StopCard view={view} details={details} />
          {isNow && view.waiting && <AnswerBox runId={runId} waiting={view.waiting} />}
          {view.failure && (
            <p className="failure" role="alert">
              <strong>{view.failure.title ?? view.failure.code}.</strong> {view.failure.message}
            </p>
          )}
        </div>
        <RunAside run={run} view={view} details={details} />
      </div>
      <Scrubber facts={now.facts} lastSeq={now.view.lastSeq} seq={seq} isLive={now.connection === 'live'} />
    </div>
  );
}
