import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useLayoutEffect, useRef } from 'react';

interface LogListProps<Item> {
  readonly items: readonly Item[];
  readonly label: string;
  /** Whether the list stays at its end while it grows. */
  readonly follows: boolean;
  readonly children: (item: Item) => ReactNode;
}

/** How far from the end counts as at the end. */
const nearEnd = 80;

/** What happened, in order. Only what is near the visible part is in the document. */
export function LogList<Item extends { readonly key: string }>(props: LogListProps<Item>) {
  const { items, label, follows, children } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  const list = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 96,
    getItemKey: (index) => items[index]?.key ?? index,
    overscan: 6,
    anchorTo: follows ? 'end' : 'start', // older items that come in front do not move what is read
  });
  const height = list.getTotalSize();
  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element || !follows) return;
    const stayAtEnd = () => {
      if (isAtEnd.current) element.scrollTop = element.scrollHeight;
    };
    stayAtEnd();
    const observer = new ResizeObserver(stayAtEnd); // what stands below the list may grow
    observer.observe(element);
    return () => observer.disconnect();
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
      aria-label={label}
      tabIndex={0}
    >
      <div className="timeline-rows" style={{ height }}>
        {list.getVirtualItems().map(({ key, index, start }) => {
          const item = items[index];
          return (
            <div
              key={key}
              className="timeline-row"
              data-index={index}
              ref={list.measureElement}
              style={{ transform: `translateY(${start}px)` }}
            >
              {item !== undefined && children(item)}
            </div>
          );
        })}
      </div>
    </div>
  );
}
