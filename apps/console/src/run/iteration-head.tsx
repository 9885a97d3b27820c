import { between, cost, count, duration } from '../ui/amounts.ts';
import type { Iteration } from './run-details.ts';
import { useTimelineLinks } from './timeline-links.ts';

interface IterationHeadProps {
  readonly number: number;
  readonly iteration: Iteration | undefined;
  /** What the run begins with. Another one that answered is named. */
  readonly model: string | null;
}

export function IterationHead({ number, iteration, model }: IterationHeadProps) {
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
