import type { Run } from '@rondo/client';
import type { TestBed } from './test-bed';
import type { RunRequest } from './run-requests';

/** An accepted run, and its state once it has settled. */
export interface LaunchedRun {
  readonly tag: string;
  readonly id: string;
  readonly threadId: string;
  settled: Run | undefined;
}

export async function launch(testBed: TestBed, { tag, body }: RunRequest): Promise<LaunchedRun> {
  const { id, thread_id: threadId } = await testBed.client.runs.create(body);
  testBed.progress.started += 1;
  return { tag, id, threadId, settled: undefined };
}

/** Waits until the run has ended or waits; leaves `settled` undefined after `withinMs`. */
export async function settle(testBed: TestBed, run: LaunchedRun, withinMs: number): Promise<LaunchedRun> {
  run.settled = await testBed.client.waitForRun(run.id, withinMs);
  if (run.settled) testBed.progress.ended += 1;
  return run;
}

/** Executes the requests, `atOnce` runs at a time, until all have settled. */
export async function runAll(
  testBed: TestBed,
  requests: Iterable<RunRequest>,
  { atOnce, withinMs }: { atOnce: number; withinMs: number },
): Promise<LaunchedRun[]> {
  const source = requests[Symbol.iterator]();
  const runs: LaunchedRun[] = [];
  const worker = async (): Promise<void> => {
    for (let next = source.next(); !next.done; next = source.next()) {
      const run = await launch(testBed, next.value);
      runs.push(run);
      await settle(testBed, run, withinMs);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return runs;
}

/** `count` requests with different tags. */
export const repeatRequest = (about: string, count: number, work: (tag: string) => RunRequest): RunRequest[] =>
  Array.from({ length: count }, (_, index) => work(`${about}-${index + 1}`));

/** `count` requests, and more until `isEnough`: a fast machine must not finish before the fault is injected. */
export function* requestsUntil(
  { about, count, isEnough }: { about: string; count: number; isEnough: () => boolean },
  work: (tag: string) => RunRequest,
): Generator<RunRequest, void> {
  for (let index = 1; index <= count || !isEnough(); index += 1) yield work(`${about}-${index}`);
}

/** Requests until the signal aborts. */
export function* requestsWhile(
  over: AbortSignal,
  about: string,
  work: (tag: string) => RunRequest,
): Generator<RunRequest, void> {
  for (let index = 1; !over.aborted; index += 1) yield work(`${about}-${index}`);
}

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
