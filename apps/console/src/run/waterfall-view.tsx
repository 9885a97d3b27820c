import type { Fact, RunView } from '@rondo/client';
import { plainText } from '@rondo/react';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useMemo, useRef } from 'react';
import { between, duration } from '../ui/amounts.ts';
import { usePrinted } from '../ui/use-narrow.ts';
import { useNow } from '../ui/use-now.ts';
import { type Span, findEnd, sumKinds, toSpans } from './waterfall.ts';

const rowHeight = 28;

const kinds: readonly (readonly [Span['kind'], string])[] = [
  ['queue', 'queued'],
  ['model', 'models'],
  ['tool', 'tools'],
  ['wait', 'waiting'],
  ['summary', 'summaries'],
];

interface WaterfallViewProps {
  /** All facts that were read; those after `view.lastSeq` are not shown. */
  readonly facts: readonly Fact[];
  readonly view: RunView;
  readonly isNow: boolean;
}

/** Where the time of the run went, part by part. */
export function WaterfallView({ facts, view: { lastSeq, isOver }, isNow }: WaterfallViewProps) {
  const shown = useMemo(() => facts.filter(({ seq }) => seq <= lastSeq), [facts, lastSeq]);
  const spans = useMemo(() => toSpans(shown), [shown]);
  const clock = useNow(isNow && !isOver);
  const [first, last] = [shown[0], shown.at(-1)];
  const until = isNow && !isOver ? new Date(clock).toISOString() : (last?.at ?? '');
  const now = first === undefined ? 0 : Math.max(0, between(first.at, until));
  const end = findEnd(spans, now);
  const scroller = useRef<HTMLDivElement>(null);
  const list = useVirtualizer({
    count: spans.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    getItemKey: (index) => spans[index]?.id ?? index,
    overscan: 10,
  });
  const isPrinted = usePrinted();
  const sums = sumKinds(spans, now);
  return (
    <div className="waterfall" ref={scroller} role="region" aria-label="Waterfall" tabIndex={0}>
      <p className="run-facts">
        {kinds.map(([kind, words]) =>
          sums.has(kind) ? (
            <span key={kind} className={`span-kind ${kind}`}>
              {words} {duration(sums.get(kind) ?? 0)}
            </span>
          ) : null,
        )}
      </p>
      <ol style={{ height: list.getTotalSize() }}>
        {(isPrinted ? spans.map(toPrintedRow) : list.getVirtualItems()).map(({ key, index, start }) => {
          const span = spans[index];
          return span ? (
            <li key={key} style={{ transform: `translateY(${start}px)` }}>
              <SpanRow span={span} end={end} now={now} />
            </li>
          ) : null;
        })}
      </ol>
    </div>
  );
}

const toPrintedRow = ({ id }: Span, index: number) => ({ key: id, index, start: index * rowHeight });

interface SpanRowProps {
  readonly span: Span;
  readonly end: number;
  readonly now: number;
}

function SpanRow({ span: { kind, name, from, to, note }, end, now }: SpanRowProps) {
  const took = Math.max(0, (to ?? now) - from);
  const place = { left: `${(from / end) * 100}%`, width: `${(took / end) * 100}%` };
  const words = plainText(note === null ? name : `${name}: ${note}`);
  return (
    <>
      <span className="span-name" title={words}>
        {plainText(name)}
        {note !== null && <span className="unseen">: {plainText(note)}</span>}
      </span>
      <span className="span-track" aria-hidden="true">
        <span className={`span-bar ${kind} ${to === null ? 'open' : ''}`} style={place} />
      </span>
      <span className="span-time" title={`from ${duration(from)} on`}>
        {to === null ? 'since ' : ''}
        {duration(took)}
      </span>
    </>
  );
}
