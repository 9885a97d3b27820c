import type { Run } from '@rondo/client';

const over: readonly Run['status'][] = ['completed', 'failed', 'stopped'];

export const isOver = ({ status }: Pick<Run, 'status'>): boolean => over.includes(status);

/** While it is one of these, its tools may be running. */
export const atWork: readonly Run['status'][] = ['running', 'stopping'];
