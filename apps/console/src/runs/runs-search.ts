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

/** What the list shows, as the address has it: a link shows the same. */
export interface RunsSearch {
  readonly status?: Run['status'];
  readonly thread?: string;
  readonly text?: string;
}

export function readRunsSearch({ status, thread, text }: Record<string, unknown>): RunsSearch {
  const known = statuses.find((candidate) => candidate === status);
  return {
    ...(known && { status: known }),
    ...(typeof thread === 'string' && thread !== '' && { thread }),
    ...(typeof text === 'string' && text !== '' && { text }),
  };
}
