import { between, cost, count, duration } from '../ui/amounts.ts';
import type { Iteration } from './run-details.ts';

export function IterationHead({
  number,
  iteration,
}: {
  readonly number: number;
  readonly iteration: Iteration | undefined;
}) {
  return (
    <div className="iteration">
      <h2>Iteration {number}</h2>
      {iteration && (
        <span>
          {iteration.endedAt !== null && `${duration(between(iteration.startedAt, iteration.endedAt))} · `}
          {iteration.inputTokens + iteration.outputTokens > 0 &&
            `${count(iteration.inputTokens)} in, ${count(iteration.outputTokens)} out · ${cost(iteration.costUsd)}`}
        </span>
      )}
    </div>
  );
}
