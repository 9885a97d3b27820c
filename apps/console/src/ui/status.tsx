import { type Run, describeEnding } from '@rondo/client';

const words: Record<Run['status'], string> = {
  queued: 'Queued',
  running: 'Running',
  stopping: 'Stopping',
  waiting_input: 'Waits for you',
  waiting_budget: 'Waits for budget',
  waiting_child: 'Waits for other runs',
  waiting_tool: 'Waits for a program',
  completed: 'Completed',
  failed: 'Failed',
  stopped: 'Stopped',
};

export const statusWord = (status: Run['status']): string => words[status];

interface StatusProps {
  readonly status: Run['status'];
  /** Of a run that is over: one that ended before it was done is not shown as completed. */
  readonly finishReason?: Run['finish_reason'] | undefined;
  /** Of one whose message the run at work has read: it is not shown as stopped. */
  readonly steers?: Run['steers'];
}

/** A shape and a word, so that the colour is not needed to tell states apart. */
export function Status({ status, finishReason, steers }: StatusProps) {
  const ending = describeEnding({ status, finish_reason: finishReason, steers });
  const style = steers?.is_read === true ? 'read' : ending?.outcome === 'unfinished' ? 'unfinished' : status;
  return (
    <span className={`status ${style}`}>
      <i aria-hidden="true" />
      {ending?.word ?? words[status]}
    </span>
  );
}
