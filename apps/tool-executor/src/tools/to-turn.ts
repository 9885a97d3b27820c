import type { ThreadId } from '@rondo/contract';

/** The key of work of a thread that takes turns under a key of its own. */
export const toTurn = (threadId: ThreadId, key: string): string => `${threadId} ${key}`;
