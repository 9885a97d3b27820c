import type { Run } from '@rondo/client';

const words: Record<Run['status'], string> = {
  queued: 'Queued',
  running: 'Running',
  stopping: 'Stopping',
  waiting_input: 'Waits for you',
  waiting_budget: 'Waits for budget',
  waiting_child: 'Waits for other runs',
  completed: 'Completed',
  failed: 'Failed',
  stopped: 'Stopped',
};

export const statusWord = (status: Run['status']): string => words[status];

/** A shape and a word, so that the colour is not needed to tell states apart. */
export function Status({ status }: { readonly status: Run['status'] }) {
  return (
    <span className={`status ${status}`}>
      <i aria-hidden="true" />
      {words[status]}
    </span>
  );
}
