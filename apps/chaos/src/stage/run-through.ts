import { type LaunchedRun, runAll, settle } from './run-work';
import type { Stage } from './stage';
import type { Work } from './work';

const patienceMs = 300_000;

/** Runs the work while a fault goes on and on, then leaves what is left of it in peace for a while. */
export async function runThrough(
  stage: Stage,
  { works, atOnce, quietMs }: { works: Iterable<Work>; atOnce: number; quietMs: number },
  fault: (until: AbortSignal) => Promise<unknown>,
): Promise<LaunchedRun[]> {
  const over = new AbortController();
  const [runs] = await Promise.all([
    runAll(stage, works, { atOnce, withinMs: patienceMs }).finally(() => over.abort()),
    fault(over.signal),
  ]);
  return quiet(stage, runs, quietMs);
}

/** Nothing disturbs the runs any more: each must come to its end in this time. */
export async function quiet(stage: Stage, runs: LaunchedRun[], quietMs: number): Promise<LaunchedRun[]> {
  await Promise.all(runs.filter(({ settled }) => !settled).map((run) => settle(stage, run, quietMs)));
  return runs;
}
