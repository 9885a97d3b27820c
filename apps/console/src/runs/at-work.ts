import type { Run } from '@rondo/client';

/** While it is one of these, its tools may be running. */
export const atWork: readonly Run['status'][] = ['running', 'stopping'];
