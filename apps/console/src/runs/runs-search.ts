import type { Run } from '@rondo/client';

const statuses: readonly Run['status'][] = [
  'queued',
  'running',
  'stopping',
  'waiting_input',
  'waiting_budget',
  'waiting_child',
  'waiting_tool',
  'completed',
  'failed',
  'stopped',
];

const mostShown = 5_000;

/** What the list shows, as the address has it: a link shows the same. */
export interface RunsSearch {
  readonly status?: Run['status'];
  readonly thread?: string;
  readonly text?: string;
  /** How many rows, if more than the first page: the way back shows as many. */
  readonly shown?: number;
}

/** Of a list that shows more on demand. */
export const readShown = ({ shown }: Record<string, unknown>): { readonly shown?: number } =>
  typeof shown === 'number' && shown > 0 ? { shown: Math.min(Math.floor(shown), mostShown) } : {};

export function readRunsSearch({ status, thread, text, shown }: Record<string, unknown>): RunsSearch {
  const known = statuses.find((candidate) => candidate === status);
  return {
    ...(known && { status: known }),
    ...(typeof thread === 'string' && thread !== '' && { thread }),
    ...(typeof text === 'string' && text !== '' && { text }),
    ...readShown({ shown }),
  };
}
