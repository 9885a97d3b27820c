import { type RunRow, type RunView, describeEnding } from '@rondo/client';
import { useQuery } from '@tanstack/react-query';
import { useRondo } from '../session/use-session.ts';

interface WhyLineProps {
  readonly runId: string;
  readonly view: RunView;
  readonly isNow: boolean;
}

/** What the run waits for, in one sentence. Only changes of it are read out. */
export function WhyLine({ runId, view, isNow }: WhyLineProps) {
  const rondo = useRondo();
  const { data } = useQuery({
    queryKey: ['why', runId, view.status],
    queryFn: ({ signal }) => rondo.runs.why(runId, { signal }),
    refetchInterval: 2_000,
    enabled: isNow && !view.isOver,
  });
  if (!isNow) return <p role="status">State after event {view.lastSeq}.</p>;
  if (view.isOver) return <p role="status">{endingSentence(view)}</p>;
  if (isBeingWritten(view.rows.at(-1))) return <p role="status">The model writes its reply.</p>;
  return <p role="status">{data?.sentence ?? ''}</p>;
}

/** What is open is after all other rows. */
const isBeingWritten = (row: RunRow | undefined): boolean =>
  row?.kind === 'message' ? row.isOpen : row?.kind === 'tool_call' && row.status === 'drafting';

const endingSentence = ({ status, finishReason, failure }: RunView): string =>
  describeEnding({ status, finish_reason: finishReason, error: failure })?.sentence ?? '';
