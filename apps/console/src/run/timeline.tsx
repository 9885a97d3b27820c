import type { RunRow } from '@rondo/client';
import { useMemo } from 'react';
import { LogList } from '../ui/log-list.tsx';
import type { RunDetails, Iteration } from './run-details.ts';
import { MessageItem } from './message-item.tsx';
import { NoteItem } from './note-item.tsx';
import { ToolCallItem } from './tool-call-item.tsx';
import { isPlan } from '@rondo/react';
import { between, cost, count, duration } from '../ui/amounts.ts';
import { useTimelineLinks } from './timeline-links.ts';

interface TimelineProps {
  readonly rows: readonly RunRow[];
  readonly details: RunDetails;
  readonly follows: boolean;
  /** A conversation has no iterations, which each run counts anew. */
  readonly isConversation?: boolean;
}

/** The rows of a run, in order. */
export function Timeline({ rows, details, follows, isConversation = false }: TimelineProps) {
  const items = useMemo(() => timelineItems(rows, { hasIterations: !isConversation }), [rows, isConversation]);
  return (
    <LogList items={items} label={isConversation ? 'Conversation' : 'Timeline'} follows={follows}>
      {(item) => <Item item={item} details={details} />}
    </LogList>
  );
}

function Item({ item, details }: { readonly item: TimelineItem; readonly details: RunDetails }) {
  if (item.kind === 'iteration')
    return <IterationHead number={item.number} iteration={details.iterations.get(item.number)} model={details.model} />;
  const { row } = item;
  if (row.kind === 'message') return <MessageItem row={row} />;
  if (row.kind === 'tool_call') return <ToolCallItem row={row} sentAt={details.sentAt.get(row.id)} />;
  return <NoteItem row={row} />;
}

type TimelineItem =
  | { readonly kind: 'row'; readonly key: string; readonly row: RunRow }
  | { readonly kind: 'iteration'; readonly key: string; readonly number: number };

/** The rows, with a line where an iteration begins. State messages are shown elsewhere: as the plan, as the screen, and with a call's result. */
function timelineItems(rows: readonly RunRow[], { hasIterations = true } = {}): TimelineItem[] {
  const items: TimelineItem[] = [];
  let iteration = 0;
  for (const row of rows) {
    if (row.kind === 'message' && (row.role === 'browser_state' || row.role === 'image_context' || isPlan(row)))
      continue;
    if (hasIterations && row.iteration > iteration) {
      iteration = row.iteration;
      items.push({ kind: 'iteration', key: `iteration ${iteration}`, number: iteration });
    }
    items.push({ kind: 'row', key: row.id, row });
  }
  return items;
}

interface IterationHeadProps {
  readonly number: number;
  readonly iteration: Iteration | undefined;
  /** What the run begins with. Another one that answered is named. */
  readonly model: string | null;
}

function IterationHead({ number, iteration, model }: IterationHeadProps) {
  const { fork } = useTimelineLinks();
  return (
    <div className="iteration">
      <h2>Iteration {number}</h2>
      {iteration && <span>{toFigures(iteration, model)}</span>}
      {fork && iteration && iteration.startedSeq > 1 && (
        <button
          className="quiet"
          aria-label={`Fork before iteration ${number}`}
          onClick={() => fork(iteration.startedSeq - 1, number)}
        >
          Fork
        </button>
      )}
    </div>
  );
}

function toFigures({ startedAt, endedAt, inputTokens, outputTokens, costUsd, ...of }: Iteration, model: string | null) {
  const hasUsage = inputTokens + outputTokens > 0;
  return [
    of.model === null || of.model === model ? [] : of.model,
    endedAt === null ? [] : duration(between(startedAt, endedAt)),
    hasUsage ? `${count(inputTokens)} in, ${count(outputTokens)} out` : [],
    hasUsage ? cost(costUsd) : [],
  ]
    .flat()
    .join(' · ');
}
