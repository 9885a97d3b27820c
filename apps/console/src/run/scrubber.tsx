import type { Fact } from '@rondo/client';
import { getRouteApi } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';

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

/** The colour of a fact, as a custom property of the style sheet. */
function toColor(type: Fact['type']): string {
  if (type.startsWith('tool.')) return '--tool';
  if (type.startsWith('message.') || type.startsWith('usage.')) return '--accent';
  if (type === 'run.waiting' || type.startsWith('approval.')) return '--wait';
  if (type === 'run.failed' || type === 'iteration.restarted' || type === 'model.retried' || type === 'model.fell_back')
    return '--bad';
  return '--line-strong';
}

/** One stroke for each fact, as many as fit. */
function drawFacts(canvas: HTMLCanvasElement, facts: readonly Fact[]): void {
  const { width, height } = canvas.getBoundingClientRect();
  const scale = devicePixelRatio;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  const context = canvas.getContext('2d');
  if (!context || facts.length === 0) return;
  const style = getComputedStyle(canvas);
  const colors = new Map<string, string>(); // to read one takes long
  const readColor = (name: string): string => {
    const known = colors.get(name) ?? style.getPropertyValue(name);
    colors.set(name, known);
    return known;
  };
  const strokes = Math.min(facts.length, Math.floor(canvas.width / 2));
  const step = canvas.width / strokes;
  for (let stroke = 0; stroke < strokes; stroke++) {
    const fact = facts[Math.floor((stroke * facts.length) / strokes)];
    if (!fact) continue;
    context.fillStyle = readColor(toColor(fact.type));
    context.fillRect(Math.round(stroke * step), 0, Math.max(1, Math.round(step) - scale), canvas.height);
  }
}
