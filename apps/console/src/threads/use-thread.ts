import { type Message, type Run, describeEnding } from '@rondo/client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { EndedRun } from '../chat/chat-items.ts';
import { type Turn, toTurns } from '../chat/turns.ts';
import { isOver } from '../runs/run-over.ts';
import type { TimelineLinks } from '../run/timeline-links.ts';
import { useRondo } from '../session/use-session.ts';
import { take } from '../ui/take.ts';
import { useRefreshKey } from '../ui/use-refresh-key.ts';
import { editedTurns, newestQuestion } from './edited-turns.ts';

const mostMessages = 2_000;
const mostRuns = 500;
const none: readonly Run[] = [];

/** A thread as its page shows it: one run is followed live, everything else of it is messages. */
export interface ShownThread {
  /** The active run; without one, the newest. */
  readonly run: Run | undefined;
  /** Runs that wait for their turn. */
  readonly queued: readonly Run[];
  /** The messages before those of `run`, and those after it. */
  readonly before: readonly Turn[];
  readonly after: readonly Turn[];
  /** The other runs of these messages that did not complete, by their ids. */
  readonly endings: ReadonlyMap<string, EndedRun>;
  /** What edited questions said before. */
  readonly former: TimelineLinks['former'];
  /** The newest question, which can be edited. */
  readonly question: Message | undefined;
}

/** Reads the thread again every two seconds. The run and the messages around it change together. */
export function useThread(threadId: string) {
  const rondo = useRondo();
  const refreshKey = useRefreshKey();
  const runs = useQuery({
    queryKey: ['runs', threadId],
    queryFn: () => take(rondo.runs.list({ thread_id: threadId, limit: 20 }), 20),
    refetchInterval: 2_000,
  });
  const items = runs.data?.items ?? none;
  const run = items.findLast((one) => !isOver(one)) ?? items[0];
  const older = useQuery({
    queryKey: ['older runs', threadId, run?.id],
    queryFn: () => take(rondo.runs.list({ thread_id: threadId, limit: 100 }), mostRuns),
    enabled: runs.data?.hasMore === true,
    placeholderData: keepPreviousData,
  });
  const messages = useQuery({
    queryKey: ['messages', threadId, run?.id],
    queryFn: async () => ({ run, ...(await take(rondo.threads.messages(threadId, { limit: 200 }), mostMessages)) }),
    enabled: runs.data !== undefined,
    placeholderData: keepPreviousData,
  });
  const refresh = () => Promise.all([runs.refetch(), refreshKey(['messages', threadId])]).then(() => undefined);
  const shown = useMemo(
    () =>
      messages.data &&
      shownThread(messages.data.items, { run: messages.data.run, runs: items, older: older.data?.items ?? none }),
    [messages.data, items, older.data],
  );
  return {
    error: runs.error ?? messages.error,
    shown,
    refresh,
  };
}

/** Whether it is over without having done what it was asked. */
const isUnfinished = (run: Run): boolean => isOver(run) && describeEnding(run)?.outcome !== 'done';

/** What the page shows of these messages, of which `run` is followed live. */
export function shownThread(
  messages: readonly Message[],
  { run, runs, older }: { run: Run | undefined; runs: readonly Run[]; older: readonly Run[] },
): ShownThread {
  const isOfRun = (message: Message) => run !== undefined && message.run_id === run.id;
  const { current, former } = editedTurns(messages);
  const first = current.findIndex(isOfRun);
  const cut = first === -1 ? current.length : first;
  return {
    run: runs.find(({ id }) => id === run?.id) ?? run,
    queued: runs.filter(({ id, status }) => status === 'queued' && id !== run?.id),
    before: toTurns(current.slice(0, cut)),
    after: toTurns(current.slice(cut).filter((message) => !isOfRun(message))),
    endings: new Map(
      [...older, ...runs].flatMap((one) => (one.id !== run?.id && isUnfinished(one) ? [[one.id, one]] : [])),
    ),
    former,
    question: newestQuestion(current),
  };
}
