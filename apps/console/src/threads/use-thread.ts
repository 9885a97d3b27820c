import { type Run, isOver, take } from '@rondo/client';
import { toThreadView } from '@rondo/react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useRondo } from '../session/use-session.ts';
import { useRefreshKey } from '../ui/use-refresh-key.ts';

const mostMessages = 2_000;
const mostRuns = 500;
const none: readonly Run[] = [];

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
      toThreadView(messages.data.items, { run: messages.data.run, runs: items, older: older.data?.items ?? none }),
    [messages.data, items, older.data],
  );
  return {
    error: runs.error ?? messages.error,
    shown,
    refresh,
  };
}
