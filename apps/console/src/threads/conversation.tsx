import { type Run, type RunRow, describeEnding, isOver } from '@rondo/client';
import { type EndedRun, type Turn, spokenText } from '@rondo/react';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useEffect, useMemo, useRef } from 'react';
import { OpenBrowser } from '../browser/open-browser.tsx';
import { ChatView } from '../chat/chat-view.tsx';
import { Markdown } from '../markdown/markdown.tsx';
import { AnswerBox } from '../run/answer-box.tsx';
import { type FedRun, useRunFeed } from '../run/run-feed.ts';
import { StopCard } from '../run/stop-card.tsx';
import { WhyLine } from '../run/why-line.tsx';
import { atWork } from '../runs/at-work.ts';
import { useMay, useRondo } from '../session/use-session.ts';
import { Action } from '../ui/action.tsx';
import { Status } from '../ui/status.tsx';

interface LiveConversationProps {
  readonly run: Run;
  /** Runs that wait for their turn. */
  readonly queued: readonly Run[];
  /** The turns around the run. */
  readonly before: readonly Turn[];
  readonly after: readonly Turn[];
  readonly endings: ReadonlyMap<string, EndedRun>;
  readonly onEnd: () => Promise<void>;
  readonly ask: ((text: string) => Promise<unknown>) | undefined;
  readonly top: ReactNode;
  readonly children: ReactNode;
}

/** The messages, and in their midst a run as it goes on. What is written below them stays when another run begins. */
export function LiveConversation({ run, queued, before, after, ...props }: LiveConversationProps) {
  const { endings, onEnd, ask, top, children } = props;
  const { now } = useRunFeed(run.id, undefined);
  const { view, details } = now;
  const live = useMemo(() => ({ runId: run.id, rows: view.rows }), [run.id, view.rows]);
  const others = useOthers(before, after, live);

  const wasOver = useRef(view.isOver);
  useEffect(() => {
    if (view.isOver && !wasOver.current) void onEnd();
    wasOver.current = view.isOver;
  }, [view.isOver, onEnd]);

  const browser = <OpenBrowser threadId={run.thread_id} isFree={!atWork.includes(run.status)} />;
  return (
    <ChatView {...others} {...{ live, endings, browser, ask, top }} isActive={!view.isOver}>
      <StopCard view={view} details={details} />
      {view.failure && (
        <p className="failure" role="alert" tabIndex={0}>
          <strong>{view.failure.title ?? view.failure.code}.</strong> {view.failure.message}
        </p>
      )}
      <Waits key={`waits ${run.id}`} run={run} now={now} />
      <QueuedMessages runs={queued} rows={view.rows} onWithdrawn={onEnd} />
      <RunLine key={`line ${run.id}`} run={run} now={now} />
      {children}
    </ChatView>
  );
}

/** The stored turns without the messages that the log of the run has shown already. */
function useOthers(before: readonly Turn[], after: readonly Turn[], { rows }: Turn) {
  const known = useMemo(() => new Set(rows.map(({ id }) => id)), [rows]);
  return useMemo(
    () => ({ before: withoutRows(before, known), after: withoutRows(after, known) }),
    [before, after, known],
  );
}

function withoutRows(turns: readonly Turn[], known: ReadonlySet<string>): readonly Turn[] {
  if (!turns.some(({ rows }) => rows.some(({ id }) => known.has(id)))) return turns;
  return turns.map((turn) => ({ ...turn, rows: turn.rows.filter(({ id }) => !known.has(id)) }));
}

/** A question is answered with the next message; other decisions have a place of their own. */
function Waits({ run, now: { view, details } }: { readonly run: Run; readonly now: FedRun }) {
  const rondo = useRondo();
  const { waiting } = view;
  if (!waiting) return null;
  if (waiting.reason !== 'ask') return <AnswerBox runId={run.id} waiting={waiting} />;
  const text = waiting.question?.text ?? 'The run waits for an answer.';
  const isRead = view.rows.some((row) => row.kind === 'tool_call' && spokenText(row)?.text === text);
  const hasBrowser = details.screens.length > 0;
  if (isRead && !hasBrowser) return null;
  return (
    <section className="answer" aria-label="The run asks you">
      {!isRead && <Markdown text={text} />}
      {hasBrowser && <OpenBrowser threadId={run.thread_id} isFree done={() => rondo.runs.answer(run.id, 'Done.')} />}
    </section>
  );
}

interface QueuedProps {
  readonly runs: readonly Run[];
  /** Of the run at work. What it has read already is among them. */
  readonly rows: readonly RunRow[];
  readonly onWithdrawn: () => Promise<void>;
}

/** What was said and is not read yet. */
function QueuedMessages({ runs, rows, onWithdrawn }: QueuedProps) {
  const read = new Set(rows.map((row) => row.kind === 'message' && row.message?.metadata['queued_as']));
  const waiting = runs.filter(({ id }) => !read.has(id)).toReversed();
  if (waiting.length === 0) return null;
  return (
    <ul className="chat-queued" aria-label="Not read yet">
      {waiting.map((run) => (
        <QueuedMessage key={run.id} run={run} onWithdrawn={onWithdrawn} />
      ))}
    </ul>
  );
}

function QueuedMessage({ run, onWithdrawn }: { readonly run: Run } & Pick<QueuedProps, 'onWithdrawn'>) {
  const rondo = useRondo();
  const mayWrite = useMay('write');
  const withdraw = async () => {
    await rondo.runs.stop(run.id, { reason: 'Withdrawn in the console.' });
    await onWithdrawn();
  };
  return (
    <li>
      <span className="queued-words" dir="auto">
        {run.preview ?? 'A message'}
      </span>
      <span className="hint">
        <Link to="/runs/$runId" params={{ runId: run.id }}>
          {run.steers ? 'Read before the next step' : 'Begins after this run'}
        </Link>
        {mayWrite && (
          <Action className="quiet" work={withdraw}>
            Withdraw
          </Action>
        )}
      </span>
    </li>
  );
}

/** What the run does, where everything about it is, and the way to end it. */
function RunLine({ run, now: { view } }: { readonly run: Run; readonly now: FedRun }) {
  const rondo = useRondo();
  const mayWrite = useMay('write');
  if (view.lastSeq === 0) return null;
  const isDone = describeEnding({ status: view.status, finish_reason: view.finishReason })?.outcome === 'done';
  return (
    <div className="chat-run">
      <Status status={view.status} finishReason={view.finishReason} />
      {!isDone && <WhyLine runId={run.id} view={view} isNow />}
      <Link to="/runs/$runId" params={{ runId: run.id }}>
        Open this run
      </Link>
      {mayWrite && !isOver(view) && view.status !== 'stopping' && (
        <Action className="danger" work={() => rondo.runs.stop(run.id, { reason: 'Stopped in the console.' })}>
          Stop
        </Action>
      )}
    </div>
  );
}
