import type { Run } from '@rondo/client';

/** While it is one of these, its tools may be running. */
export const atWork: readonly Run['status'][] = ['running', 'stopping'];

/** The statuses of runs that are not over, as lists take them. */
export const unfinished = 'queued,running,waiting_input,waiting_budget,waiting_tool,waiting_child,stopping';
