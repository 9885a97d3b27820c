import type { Run } from '@rondo/client';
import { Link } from '@tanstack/react-router';
import { useRunTitle } from '../runs/run-title.ts';
import { cost, count, isUsageKnown } from '../ui/amounts.ts';
import { Status } from '../ui/status.tsx';
import { type RunBelow, toSum, useRunTree } from './run-tree.ts';

/** The runs that this one has started, and theirs; and what all of them cost together with it. */
export function ChildRuns({ run }: { readonly run: Run }) {
  const below = useRunTree(run);
  if (below.length === 0) return null;
  const sum = toSum([run.usage, ...below.map((one) => one.run.usage)]);
  return (
    <section aria-label="Runs below this one">
      <h2>{below.length === 1 ? 'A run below this one' : `${below.length} runs below this one`}</h2>
      <ul className="tree-runs">
        {below.map((one) => (
          <Below key={one.run.id} below={one} />
        ))}
      </ul>
      {isUsageKnown(sum) && (
        <dl>
          <div>
            <dt>Together with this one</dt>
            <dd>{cost(sum.cost_usd)}</dd>
          </div>
          <div>
            <dt>Tokens</dt>
            <dd>
              {count(sum.input_tokens)} in, {count(sum.output_tokens)} out
            </dd>
          </div>
        </dl>
      )}
    </section>
  );
}

function Below({ below: { run, depth } }: { readonly below: RunBelow }) {
  const title = useRunTitle(run);
  return (
    <li style={{ paddingLeft: `${depth * 14}px` }}>
      <Link to="/runs/$runId" params={{ runId: run.id }} title={run.id}>
        <bdi>{title ?? run.id}</bdi>
      </Link>
      <span className="run-facts">
        <Status status={run.status} finishReason={run.finish_reason} />
        <span>{run.settings.agent.name ?? run.profile}</span>
        {isUsageKnown(run.usage) && <span>{cost(run.usage.cost_usd)}</span>}
      </span>
    </li>
  );
}
