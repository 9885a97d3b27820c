import type { Run } from '@rondo/client';

const over: readonly Run['status'][] = ['completed', 'failed', 'stopped'];

export const isOver = ({ status }: Pick<Run, 'status'>): boolean => over.includes(status);
