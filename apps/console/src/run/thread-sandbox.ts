import type { Rondo } from '@rondo/client';
import { queryOptions } from '@tanstack/react-query';

/** The sandbox of a thread as it is, or null where it has none. Asking wakes nothing. */
export const sandboxOfThread = (rondo: Rondo, threadId: string) =>
  queryOptions({
    queryKey: ['sandbox of', threadId],
    // A list, since a browser logs an error where an address is not there.
    queryFn: async () => {
      for await (const sandbox of rondo.sandboxes.list({ thread_id: threadId })) return sandbox;
      return null;
    },
    refetchInterval: 10_000,
  });
