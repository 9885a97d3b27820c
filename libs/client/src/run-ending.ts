import type { Run } from './generated/api.ts';

const over: readonly Run['status'][] = ['completed', 'failed', 'stopped'];

/** Whether nothing more happens in the run. */
export const isOver = ({ status }: Pick<Run, 'status'>): boolean => over.includes(status);

/** `done`: it did what it was asked. `unfinished`: it ended before that, though nothing failed. */
export type RunOutcome = 'done' | 'unfinished' | 'failed' | 'stopped';

/** How a run ended, for people. `word` stands beside its model and cost, `sentence` for itself. */
export interface RunEnding {
  readonly outcome: RunOutcome;
  readonly word: string;
  readonly sentence: string;
}

type FinishReason = NonNullable<Run['finish_reason']>;

const done = { outcome: 'done', word: 'Completed', sentence: 'The run is complete.' } as const;
const failed = { outcome: 'failed', word: 'Failed', sentence: 'The run failed.' } as const;
const stopped = { outcome: 'stopped', word: 'Stopped', sentence: 'The run was stopped.' } as const;
const read = {
  ...stopped,
  word: 'Message read',
  sentence: 'The run at work has read its message, so nothing was left to do.',
} as const;

const toUnfinished = (word: string, sentence: string): RunEnding => ({ outcome: 'unfinished', word, sentence });

const endings: Readonly<Record<FinishReason, RunEnding>> = {
  stop: done,
  complete: done,
  tool_calls: done,
  ask: done,
  length: toUnfinished('Cut off', 'The last reply reached the output limit of the model and is cut off.'),
  xml_tool_limit_reached: toUnfinished('Cut off', 'The last reply had more tool calls than one reply may have.'),
  max_iterations: toUnfinished('Out of iterations', 'The run reached its max iterations before it was done.'),
  budget_exceeded: toUnfinished(
    'Out of budget',
    'The next request was not covered by what the run or its account may spend.',
  ),
  loop_detected: toUnfinished('Loop detected', 'The run repeated the same calls and was ended before it was done.'),
  stopped,
  error: failed,
};

/** Of a finish reason that a newer gateway knows: it is not taken for success. */
const isKnown = (reason: string): reason is FinishReason => Object.hasOwn(endings, reason);

/** What the ending says of a run: `finish_reason` and, of a failed one, `error` of the run as the API gives it. */
export interface EndedRun {
  readonly status: Run['status'];
  readonly finish_reason?: Run['finish_reason'] | undefined;
  readonly error?: { readonly message: string } | null | undefined;
  readonly steers?: Run['steers'];
}

/** Undefined while the run is not over. Only the outcome `done` is a success. */
export function describeEnding({ status, finish_reason: reason, error, steers }: EndedRun): RunEnding | undefined {
  if (status === 'failed') return error ? { ...failed, sentence: `The run failed: ${error.message}` } : failed;
  if (status === 'stopped') return steers?.is_read === true ? read : stopped;
  if (status !== 'completed') return undefined;
  if (reason == null) return done;
  return isKnown(reason) ? endings[reason] : toUnfinished('Ended', `The run ended with ${String(reason)}.`);
}
