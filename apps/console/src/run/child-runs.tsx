import { type Run, type Rondo, type Usage, isOver, take } from '@rondo/client';
import { Link } from '@tanstack/react-router';
import { useQuery } from '@tanstack/react-query';
import { nameAgent, useRunTitle } from '../runs/run-title.ts';
import { cost, count, isUsageKnown } from '../ui/amounts.ts';
import { Status } from '../ui/status.tsx';
import { useRondo } from '../session/use-session.ts';

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
        <Status status={run.status} finishReason={run.finish_reason} steers={run.steers} />
        <span>{nameAgent(run)}</span>
        {isUsageKnown(run.usage) && <span>{cost(run.usage.cost_usd)}</span>}
      </span>
    </li>
  );
}

/** A run below another one, and how many runs are between them. */
interface RunBelow {
  readonly run: Run;
  readonly depth: number;
}

const mostChildren = 100;
const refreshMs = 3_000;

/** The runs below this one, each before its own, in the order in which they began. Read again while some of them go on. */
function useRunTree({ id, children = [] }: Run) {
  const rondo = useRondo();
  const { data } = useQuery({
    queryKey: ['tree', id, children.map(({ status }) => status).join(' ')],
    queryFn: () => runsBelow(rondo, id, 0),
    enabled: children.length > 0,
    refetchInterval: ({ state }) => (state.data?.every(({ run }) => isOver(run)) === true ? false : refreshMs),
    placeholderData: (known) => known,
  });
  return data ?? [];
}

async function runsBelow(rondo: Rondo, id: string, depth: number): Promise<RunBelow[]> {
  const { items } = await take(rondo.runs.list({ parent_run_id: id, limit: mostChildren }), mostChildren);
  const trees = items.toReversed().map(async (run) => {
    const below = run.settings.tools.includes('run_agent') ? await runsBelow(rondo, run.id, depth + 1) : [];
    return [{ run, depth }, ...below];
  });
  return (await Promise.all(trees)).flat();
}

/** What a run and those below it have used. An unknown cost makes the sum unknown. */
const toSum = (usages: readonly Usage[]): Usage =>
  usages.reduce((sum, one) => ({
    input_tokens: sum.input_tokens + one.input_tokens,
    cached_tokens: sum.cached_tokens + one.cached_tokens,
    output_tokens: sum.output_tokens + one.output_tokens,
    cost_usd: sum.cost_usd === null || one.cost_usd === null ? null : sum.cost_usd + one.cost_usd,
  }));
