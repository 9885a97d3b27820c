import type { RunRow } from '@rondo/client';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useLayoutEffect, useMemo, useRef } from 'react';
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

/** How far from the end counts as at the end. */
const nearEnd = 80;

/** What happened, in order. Only what is near the visible part is in the document. */
export function Timeline({ rows, details, follows, isConversation = false }: TimelineProps) {
  const items = useMemo(() => timelineItems(rows, { hasIterations: !isConversation }), [rows, isConversation]);
  const scroller = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  const list = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 96,
    getItemKey: (index) => items[index]?.key ?? index,
    overscan: 6,
  });
  const height = list.getTotalSize();
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element && follows && isAtEnd.current) element.scrollTop = element.scrollHeight;
  }, [height, items, follows]);

  const remember = () => {
    const element = scroller.current;
    if (element) isAtEnd.current = element.scrollHeight - element.scrollTop - element.clientHeight < nearEnd;
  };
  return (
    <div
      className="timeline"
      ref={scroller}
      onScroll={remember}
      role="log"
      aria-live="off"
      aria-label={isConversation ? 'Conversation' : 'Timeline'}
      tabIndex={0}
    >
      <div className="timeline-rows" style={{ height }}>
        {list.getVirtualItems().map(({ key, index, start }) => (
          <div
            key={key}
            className="timeline-row"
            data-index={index}
            ref={list.measureElement}
            style={{ transform: `translateY(${start}px)` }}
          >
            <Item item={items[index]} details={details} />
          </div>
        ))}
      </div>
    </div>
  );
}

function Item({ item, details }: { readonly item: TimelineItem | undefined; readonly details: RunDetails }) {
  if (!item) return null;
  if (item.kind === 'iteration')
    return <IterationHead number={item.number} iteration={details.iterations.get(item.number)} model={details.model} />;
  const { row } = item;
  if (row.kind === 'message') return <MessageItem row={row} />;
  if (row.kind === 'tool_call') return <ToolCallItem row={row} sentAt={details.sentAt.get(row.id)} />;
  return <NoteItem row={row} />;
}
