import type { Message, Run } from '@rondo/client';
import { Link } from '@tanstack/react-router';
import { useEffect, useMemo, useRef } from 'react';
import { AnswerBox } from '../run/answer-box.tsx';
import { noDetails } from '../run/run-details.ts';
import type { FedRun } from '../run/run-feed.ts';
import { StopCard } from '../run/stop-card.tsx';
import { Timeline } from '../run/timeline.tsx';
import { useRunFeed } from '../run/use-run-feed.ts';
import { WhyLine } from '../run/why-line.tsx';
import { useMay } from '../session/use-may.ts';
import { useRondo } from '../session/use-session.ts';
import { Action } from '../ui/action.tsx';
import { Markdown } from '../markdown/markdown.tsx';
import { Status } from '../ui/status.tsx';
import { messageRows } from './message-rows.ts';

export function PastConversation({ messages }: { readonly messages: readonly Message[] }) {
  const rows = useMemo(() => messageRows(messages), [messages]);
  return <Timeline rows={rows} details={noDetails} follows isConversation />;
}

interface LiveConversationProps {
  readonly run: Run;
  /** The messages around those of the run. */
  readonly before: readonly Message[];
  readonly after: readonly Message[];
  readonly onEnd: () => Promise<void>;
}

/** The messages, and in their midst a run as it goes on. */
export function LiveConversation({ run, before, after, onEnd }: LiveConversationProps) {
  const { now } = useRunFeed(run.id, undefined);
  const { view, details } = now;
  const rows = useMemo(() => {
    const known = new Set(view.rows.map(({ id }) => id));
    const others = (messages: readonly Message[]) => messageRows(messages.filter(({ id }) => !known.has(id)));
    return [...others(before), ...view.rows, ...others(after)];
  }, [before, view.rows, after]);

  const wasOver = useRef(view.isOver);
  useEffect(() => {
    if (view.isOver && !wasOver.current) void onEnd();
    wasOver.current = view.isOver;
  }, [view.isOver, onEnd]);

  return (
    <>
      <Timeline rows={rows} details={details} follows isConversation />
      <StopCard view={view} details={details} />
      {view.failure && (
        <p className="failure" role="alert">
          <strong>{view.failure.title ?? view.failure.code}.</strong> {view.failure.message}
        </p>
      )}
      <Waits run={run} now={now} />
      <RunLine run={run} now={now} />
    </>
  );
}

/** A question is answered with the next message; other decisions have a page of their own. */
function Waits({ run, now: { view } }: { readonly run: Run; readonly now: FedRun }) {
  if (!view.waiting) return null;
  if (view.waiting.reason !== 'ask') return <AnswerBox runId={run.id} waiting={view.waiting} />;
  return (
    <section className="answer" aria-label="The run asks you">
      <Markdown text={view.waiting.question?.text ?? 'The run waits for an answer.'} />
    </section>
  );
}

/** What the run does, where everything about it is, and the way to end it. */
function RunLine({ run, now: { view } }: { readonly run: Run; readonly now: FedRun }) {
  const rondo = useRondo();
  const mayWrite = useMay('write');
  if (view.lastSeq === 0) return null;
  return (
    <div className="chat-run">
      <Status status={view.status} finishReason={view.finishReason} />
      <WhyLine runId={run.id} view={view} isNow />
      <Link to="/runs/$runId" params={{ runId: run.id }}>
        All of this run
      </Link>
      {mayWrite && !view.isOver && view.status !== 'stopping' && (
        <Action className="danger" work={() => rondo.runs.stop(run.id, { reason: 'Stopped in the console.' })}>
          Stop
        </Action>
      )}
    </div>
  );
}
