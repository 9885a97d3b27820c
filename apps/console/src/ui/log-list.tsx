import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, type RefObject, useLayoutEffect, useRef, useState } from 'react';
import { usePrinted } from './use-narrow.ts';

interface LogListProps<Item> {
  readonly items: readonly Item[];
  readonly label: string;
  /** Whether the list stays at its end while it grows. */
  readonly follows: boolean;
  readonly children: (item: Item) => ReactNode;
}

/** How far from the end counts as at the end. */
const nearEnd = 80;

/** What happened, in order. Only what is near the visible part is in the document; on paper all of it. */
export function LogList<Item extends { readonly key: string }>(props: LogListProps<Item>) {
  const { items, label, follows, children } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const isPrinted = usePrinted();
  const list = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 96,
    getItemKey: (index) => items[index]?.key ?? index,
    overscan: 6,
    anchorTo: follows ? 'end' : 'start', // older items that come in front do not move what is read
  });
  const height = list.getTotalSize();
  const { isAway, remember, goToEnd } = useEnd({ scroller, height, items, follows });
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
        {(isPrinted ? items.map(toPrintedRow) : list.getVirtualItems()).map(({ key, index, start }) => {
          const item = items[index];
          return (
            <div
              key={key}
              className="timeline-row"
              data-index={index}
              ref={list.measureElement}
              style={isPrinted ? undefined : { transform: `translateY(${start}px)` }}
            >
              {item !== undefined && children(item)}
            </div>
          );
        })}
      </div>
      {isAway && (
        <button className="to-end" onClick={goToEnd}>
          Go to the newest
        </button>
      )}
    </div>
  );
}

/** It is below the one before. */
const toPrintedRow = ({ key }: { readonly key: string }, index: number) => ({ key, index, start: 0 });

interface EndProps extends Pick<LogListProps<unknown>, 'items' | 'follows'> {
  readonly scroller: RefObject<HTMLDivElement | null>;
  readonly height: number;
}

/** Stays at the end while the list grows, unless its reader has gone elsewhere, and leads back there. */
function useEnd({ scroller, height, items, follows }: EndProps) {
  const isAtEnd = useRef(true);
  const [isAway, setAway] = useState(false);
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
  }, [scroller, height, items, follows]);
  const remember = () => {
    const element = scroller.current;
    if (!element) return;
    isAtEnd.current = element.scrollHeight - element.scrollTop - element.clientHeight < nearEnd;
    setAway(!isAtEnd.current);
  };
  const goToEnd = () => {
    const element = scroller.current;
    if (element) element.scrollTop = element.scrollHeight;
    element?.focus();
  };
  return { isAway, remember, goToEnd };
}
