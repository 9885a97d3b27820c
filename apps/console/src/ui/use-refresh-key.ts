import { type QueryClient, type QueryKey, useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';

/**
 * Reads again all queries whose key begins with `queryKey`, and settles when those on the page have answered; it
 * never rejects. A read that is under way is cancelled first: it may have begun before the change that this
 * follows, and an invalidation alone lets a query's first read finish and shows its answer.
 */
export async function refreshKey(queries: QueryClient, queryKey: QueryKey): Promise<void> {
  await queries.cancelQueries({ queryKey });
  await queries.invalidateQueries({ queryKey });
}

/** The function `refreshKey` of the page's queries; it stays the same between renders. */
export function useRefreshKey(): (queryKey: QueryKey) => Promise<void> {
  const queries = useQueryClient();
  return useCallback((queryKey) => refreshKey(queries, queryKey), [queries]);
}
