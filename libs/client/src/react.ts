import { useMemo, useSyncExternalStore } from 'react';
import type { Answer } from './generated/api.ts';
import type { Rondo } from './rondo.ts';
import { RunWatch, type WatchedRun } from './run-watch.ts';
import type { StoppedRun } from './runs.ts';

export interface UsedRun extends WatchedRun {
  readonly answer: (content: Answer['content']) => Promise<unknown>;
  readonly stop: (reason?: string) => Promise<StoppedRun>;
}

/** A run, live: the component renders again as its events arrive, at most once a frame. */
export function useRun(rondo: Rondo, runId: string): UsedRun {
  const used = useMemo(() => {
    const watch = new RunWatch(rondo.runs, runId);
    return {
      watch,
      answer: (content: Answer['content']) => rondo.runs.answer(runId, content),
      stop: (reason?: string) => rondo.runs.stop(runId, reason === undefined ? {} : { reason }),
    };
  }, [rondo, runId]);
  const { watch, answer, stop } = used;
  const watched = useSyncExternalStore(watch.subscribe, watch.current, watch.current);
  return { ...watched, answer, stop };
}
