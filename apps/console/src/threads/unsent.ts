import type { Draft } from '@rondo/react';
import { useEffect, useState } from 'react';

/** What is written for a conversation and not sent. It outlives the composer, in whose place another one may be meanwhile. */
export interface Unsent {
  current: Draft | undefined;
}

/** What was written while the first message of a thread was sent. */
let carried: { readonly threadId: string; readonly unsent: Unsent } | undefined;

/** The page of the thread goes on with it. */
export function carryUnsent(threadId: string, unsent: Unsent): void {
  carried = { threadId, unsent };
}

/** Begins with what was written before there was the thread. */
export function useUnsent(threadId: string): Unsent {
  const [unsent] = useState(() => (carried?.threadId === threadId ? carried.unsent : { current: undefined }));
  useEffect(() => {
    carried = undefined;
  }, []);
  return unsent;
}

/** Both, one after the other. */
export const joinDrafts = (first: Draft | undefined, second: Draft | undefined): Draft => ({
  text: [first?.text, second?.text].filter(Boolean).join('\n'),
  files: [...(first?.files ?? []), ...(second?.files ?? [])],
});
