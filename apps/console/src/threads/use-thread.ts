import { type Rondo, type Run, take } from '@rondo/client';
import { pickRun, toThreadView } from '@rondo/react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { useRondo } from '../session/use-session.ts';
import { useRefreshKey } from '../ui/use-refresh-key.ts';

/** How many messages are shown, and how many more each time that older ones are asked for. */
const messagesAtOnce = 2_000;
/** What is seen first, at the end of a conversation. All of it takes as many requests as it has pages. */
const messagesAtFirst = 100;
const mostRuns = 500;
const none: readonly Run[] = [];

/** Reads the thread again every two seconds. The run and the messages around it change together. */
export function useThread(threadId: string) {
  const rondo = useRondo();
  const refreshKey = useRefreshKey();
  const [most, setMost] = useState(messagesAtOnce);
  const runs = useQuery({
    queryKey: ['runs', threadId],
    queryFn: () => take(rondo.runs.list({ thread_id: threadId, limit: 20 }), 20),
    refetchInterval: 2_000,
  });
  const items = runs.data?.items ?? none;
  const run = pickRun(items);
  const older = useQuery({
    queryKey: ['older runs', threadId, run?.id],
    queryFn: () => take(rondo.runs.list({ thread_id: threadId, limit: 100 }), mostRuns),
    enabled: runs.data?.hasMore === true,
    placeholderData: keepPreviousData,
  });
  const newest = useQuery({
    queryKey: ['newest messages', threadId],
    queryFn: async () => (await readNewest(rondo, threadId, messagesAtFirst)).items,
    staleTime: Infinity,
    gcTime: 0,
  });
  const messages = useQuery({
    queryKey: ['messages', threadId, run?.id, most],
    queryFn: async () => ({ run, ...(await readNewest(rondo, threadId, most)) }),
    enabled: runs.data !== undefined && !newest.isPending,
    placeholderData: (before) => before ?? (newest.data && { run, items: newest.data, hasMore: false }),
  });
  const refresh = () => Promise.all([runs.refetch(), refreshKey(['messages', threadId])]).then(() => undefined);
  const load = () => setMost((before) => before + messagesAtOnce);
  const shown = useMemo(
    () =>
      messages.data &&
      toThreadView(messages.data.items, { run: messages.data.run, runs: items, older: older.data?.items ?? none }),
    [messages.data, items, older.data],
  );
  return {
    error: runs.error ?? newest.error ?? messages.error,
    shown,
    /** Of a thread with more messages than are shown: how many are, and the way to older ones. */
    older:
      messages.data?.hasMore === true
        ? { shown: messages.data.items.length, isComing: messages.isPlaceholderData, load }
        : null,
    refresh,
  };
}

/** In their order. */
async function readNewest(rondo: Rondo, threadId: string, count: number) {
  const limit = Math.min(count, 200);
  const { items, hasMore } = await take(rondo.threads.messages(threadId, { limit, order: 'desc' }), count);
  return { items: items.toReversed(), hasMore };
}
