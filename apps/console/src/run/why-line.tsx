import { type Run, type RunRow, type RunView, describeEnding } from '@rondo/client';
import { useQuery } from '@tanstack/react-query';
import { useRondo } from '../session/use-session.ts';
import { between, duration } from '../ui/amounts.ts';
import { useNow } from '../ui/use-now.ts';

interface WhyLineProps {
  readonly runId: string;
  readonly view: RunView;
  readonly isNow: boolean;
  readonly steers?: Run['steers'];
}

/** What the run waits for, in one sentence. Changes of it are read out, and not each second of how long it takes. */
export function WhyLine({ runId, view, isNow, steers }: WhyLineProps) {
  const rondo = useRondo();
  const { data } = useQuery({
    queryKey: ['why', runId, view.status],
    queryFn: ({ signal }) => rondo.runs.why(runId, { signal }),
    refetchInterval: 2_000,
    enabled: isNow && !view.isOver,
  });
  if (!isNow) return <p role="status">State after event {view.lastSeq}.</p>;
  if (view.isOver) return <Sentence text={endingSentence(view, steers)} />;
  if (isBeingWritten(view.rows.at(-1))) return <p role="status">The model writes its reply.</p>;
  return (
    <>
      <Sentence text={data?.sentence ?? ''} />
      {data && <Since at={data.step?.since ?? data.since} />}
    </>
  );
}

/** Two lines of it. A question or an error that is longer stands in full beside what is done about it. */
const Sentence = ({ text }: { readonly text: string }) => (
  <p role="status" className="why" dir="auto">
    {text}
  </p>
);

/** What is over sooner is not worth a number that changes. */
const shortestMs = 3_000;

function Since({ at }: { readonly at: string }) {
  const ms = between(at, new Date(useNow()).toISOString());
  return ms < shortestMs ? null : (
    <time className="hint" dateTime={at}>
      {duration(ms)}
    </time>
  );
}

/** What is open is after all other rows. */
const isBeingWritten = (row: RunRow | undefined): boolean =>
  row?.kind === 'message' ? row.isOpen : row?.kind === 'tool_call' && row.status === 'drafting';

const endingSentence = ({ status, finishReason, failure }: RunView, steers: Run['steers']): string =>
  describeEnding({ status, finish_reason: finishReason, error: failure, steers })?.sentence ?? '';
