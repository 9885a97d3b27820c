import type { Run } from '@rondo/client';
import { Link } from '@tanstack/react-router';
import { age, between, cost, count, duration, isUsageKnown } from '../ui/amounts.ts';
import { Status } from '../ui/status.tsx';
import { useRunTitle } from './run-title.ts';

interface RunItemProps {
  readonly run: Run;
  readonly now: number;
}

/** A fork has the start of its origin in its log, but has taken only the time since it was made. */
const beganAt = ({ created_at: created }: Run, started: string): string => (started < created ? created : started);

/** One line of the list. */
export function RunItem({ run, now }: RunItemProps) {
  const title = useRunTitle(run);
  const { name: agent } = run.settings.agent;
  return (
    <li>
      <Link to="/runs/$runId" params={{ runId: run.id }}>
        <Status status={run.status} finishReason={run.finish_reason} />
        <span className="run-title" dir="auto">
          {title ?? ' '}
        </span>
        <span className="run-facts">
          {agent !== undefined && <span>{agent}</span>}
          <span>{run.model}</span>
          {run.user != null && <span dir="auto">for {run.user}</span>}
          {run.parent_run_id !== null && <span>started by a run</span>}
          {run.forked_from !== null && <span>a fork</span>}
          <span>{run.iteration === 1 ? '1 iteration' : `${run.iteration} iterations`}</span>
          {isUsageKnown(run.usage) && (
            <>
              <span>{count(run.usage.input_tokens + run.usage.output_tokens)} tokens</span>
              <span>{cost(run.usage.cost_usd)}</span>
            </>
          )}
          {run.started_at !== null && (
            <span>
              {duration(between(beganAt(run, run.started_at), run.finished_at ?? new Date(now).toISOString()))}
            </span>
          )}
        </span>
        <time dateTime={run.created_at} title={new Date(run.created_at).toLocaleString()}>
          {age(run.created_at, now)}
        </time>
      </Link>
    </li>
  );
}
