import type { Fact } from '@rondo/client';
import { getRouteApi } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { drawFacts } from './draw-facts.ts';

const route = getRouteApi('/runs/$runId');

/** What the newest fact is: whether more will come. */
export type LogEnd = 'Live' | 'Waiting' | 'The end' | 'No connection';

interface ScrubberProps {
  readonly facts: readonly Fact[];
  readonly lastSeq: number;
  readonly seq: number | undefined;
  readonly end: LogEnd;
}

/** All facts as a bar. Each place on it is the run as it was then, and an address of its own. */
export function Scrubber({ facts, lastSeq, seq, end }: ScrubberProps) {
  const navigate = route.useNavigate();
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    if (canvas.current) drawFacts(canvas.current, facts);
  }, [facts, lastSeq]);

  const go = (to: number) =>
    void navigate({ search: ({ seq: _, ...kept }) => (to >= lastSeq ? kept : { ...kept, seq: to }), replace: true });
  const shown = Math.min(seq ?? lastSeq, lastSeq);
  const fact = facts.findLast((one) => one.seq <= shown);
  return (
    <footer className="scrubber">
      <div className="scrubber-bar">
        <canvas ref={canvas} aria-hidden="true" />
        <input
          type="range"
          min={1}
          max={lastSeq}
          value={shown}
          aria-label="Show the run as it was after this fact"
          aria-valuetext={`Fact ${shown} of ${lastSeq}, ${fact?.type ?? ''}`}
          onChange={(event) => go(Number(event.currentTarget.value))}
        />
      </div>
      <output>
        <b>
          {shown} / {lastSeq}
        </b>{' '}
        <span>{fact?.type}</span>
      </output>
      {shown === lastSeq ? (
        <span className="scrubber-end">{end}</span>
      ) : (
        <button className="scrubber-end" onClick={() => go(lastSeq)}>
          {end === 'Live' ? 'Back to live' : 'To the end'}
        </button>
      )}
    </footer>
  );
}
