import { type Rondo, type Run, type Usage, isOver, take } from '@rondo/client';
import { useQuery } from '@tanstack/react-query';
import { useRondo } from '../session/use-session.ts';

/** A run below another one, and how many runs are between them. */
export interface RunBelow {
  readonly run: Run;
  readonly depth: number;
}

const mostChildren = 100;
const refreshMs = 3_000;

/** The runs below this one, each before its own, in the order in which they began. Read again while some of them go on. */
export function useRunTree({ id, children = [] }: Run) {
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
export const toSum = (usages: readonly Usage[]): Usage =>
  usages.reduce((sum, one) => ({
    input_tokens: sum.input_tokens + one.input_tokens,
    cached_tokens: sum.cached_tokens + one.cached_tokens,
    output_tokens: sum.output_tokens + one.output_tokens,
    cost_usd: sum.cost_usd === null || one.cost_usd === null ? null : sum.cost_usd + one.cost_usd,
  }));
