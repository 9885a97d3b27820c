import type { RunView } from '@rondo/test-deployment';
import type { Stage } from './stage';
import type { Work } from './work';

/** A run that was accepted, and where it was when it was last asked. */
export interface LaunchedRun {
  readonly tag: string;
  readonly id: string;
  readonly threadId: string;
  settled: RunView | undefined;
}

export async function launch(stage: Stage, { tag, body }: Work): Promise<LaunchedRun> {
  const { id, thread_id: threadId } = await stage.client.createRun(body);
  stage.tally.started += 1;
  return { tag, id, threadId, settled: undefined };
}

/** Waits until the run is over or asks for somebody; it is not an error when that does not happen. */
export async function settle(stage: Stage, run: LaunchedRun, withinMs: number): Promise<LaunchedRun> {
  run.settled = await stage.client.settled(run.id, withinMs);
  if (run.settled) stage.tally.ended += 1;
  return run;
}

/** Keeps so many runs going until the work is used up and all have settled. */
export async function runAll(
  stage: Stage,
  works: Iterable<Work>,
  { atOnce, withinMs }: { atOnce: number; withinMs: number },
): Promise<LaunchedRun[]> {
  const source = works[Symbol.iterator]();
  const runs: LaunchedRun[] = [];
  const lane = async (): Promise<void> => {
    for (let next = source.next(); !next.done; next = source.next()) {
      const run = await launch(stage, next.value);
      runs.push(run);
      await settle(stage, run, withinMs);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  return runs;
}

/** The same work under so many names. */
export const repeated = (about: string, count: number, work: (tag: string) => Work): Work[] =>
  Array.from({ length: count }, (_, index) => work(`${about}-${index + 1}`));

/** So much work, and more of it until that is enough: a fast machine must not be done before the fault has struck. */
export function* untilEnough(
  { about, count, isEnough }: { about: string; count: number; isEnough: () => boolean },
  work: (tag: string) => Work,
): Generator<Work, void> {
  for (let index = 1; index <= count || !isEnough(); index += 1) yield work(`${about}-${index}`);
}

/** New work for as long as it lasts. */
export function* whileLasting(over: AbortSignal, about: string, work: (tag: string) => Work): Generator<Work, void> {
  for (let index = 1; !over.aborted; index += 1) yield work(`${about}-${index}`);
}
