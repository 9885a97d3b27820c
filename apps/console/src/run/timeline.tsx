import type { RunRow } from '@rondo/client';
import { useMemo } from 'react';
import { LogList } from '../ui/log-list.tsx';
import type { RunDetails } from './run-details.ts';
import { type TimelineItem, timelineItems } from './timeline-items.ts';
import { IterationHead } from './iteration-head.tsx';
import { MessageItem } from './message-item.tsx';
import { NoteItem } from './note-item.tsx';
import { ToolCallItem } from './tool-call-item.tsx';

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
