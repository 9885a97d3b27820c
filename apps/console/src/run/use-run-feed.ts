import { useMemo, useRef, useSyncExternalStore } from 'react';
import { useRondo } from '../session/use-session.ts';
import { type FedRun, RunFeed } from './run-feed.ts';
import { RunHistory } from './run-record.ts';

/** The run of a page: as it is now, or as it was at `seq`. */
export function useRunFeed(
  runId: string,
  seq: number | undefined,
): { now: FedRun; shown: Pick<FedRun, 'view' | 'details'> } {
  const rondo = useRondo();
  const feed = useMemo(() => new RunFeed(rondo, runId), [rondo, runId]);
  const history = useMemo(() => new RunHistory(), [feed]);
  const now = useSyncExternalStore(feed.subscribe, feed.current);
  const past = useRef<{ seq: number; known: number; shown: Pick<FedRun, 'view' | 'details'> } | null>(null);
  if (seq === undefined || seq >= now.view.lastSeq) return { now, shown: now };

  if (past.current?.seq !== seq || past.current.known === 0) {
    const { view, details } = history.at(seq, now.facts);
    past.current = { seq, known: view.lastSeq, shown: { view, details } };
  }
  return { now, shown: past.current.shown };
}
