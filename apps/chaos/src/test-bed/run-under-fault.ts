import { type LaunchedRun, runAll, settle } from './start-runs';
import type { TestBed } from './test-bed';
import type { RunRequest } from './run-requests';

const retryForMs = 300_000;

/** Executes the runs while `fault` repeats, then gives the rest `quietMs` to settle without faults. */
export async function runUnderFault(
  testBed: TestBed,
  { requests, atOnce, quietMs }: { requests: Iterable<RunRequest>; atOnce: number; quietMs: number },
  fault: (until: AbortSignal) => Promise<unknown>,
): Promise<LaunchedRun[]> {
  const over = new AbortController();
  const [runs] = await Promise.all([
    runAll(testBed, requests, { atOnce, withinMs: retryForMs }).finally(() => over.abort()),
    fault(over.signal),
  ]);
  return quiet(testBed, runs, quietMs);
}

/** Waits until each run has settled, after the last fault. */
export async function quiet(testBed: TestBed, runs: LaunchedRun[], quietMs: number): Promise<LaunchedRun[]> {
  await Promise.all(runs.filter(({ settled }) => !settled).map((run) => settle(testBed, run, quietMs)));
  return runs;
}
