import { useCallback, useSyncExternalStore } from 'react';

/** Whether the window matches a media query, for example `(min-width: 1200px)`. */
export function useMatch(query: string): boolean {
  const subscribe = useCallback(
    (listener: () => void) => {
      const list = matchMedia(query);
      list.addEventListener('change', listener);
      return () => list.removeEventListener('change', listener);
    },
    [query],
  );
  return useSyncExternalStore(subscribe, () => matchMedia(query).matches);
}

/** Whether the page is on its way to paper. */
export const usePrinted = (): boolean => useMatch('print');

/** Whether the window is as narrow as a phone, as in the style sheets. */
export const useNarrow = (): boolean => useMatch('(max-width: 720px)');
