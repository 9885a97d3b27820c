import type { NewFact, NewMessage, RecordedFact, Run, RunStatus } from '@rondo/contract';
import { type RunQueueName, type StopRequest, openCalls, replay } from '@rondo/domain';

export interface RunRow {
  run: Run;
  readonly log: RecordedFact[];
  holdsThread: boolean;
  /** The input of a run that waits for its thread. */
  queuedInput: NewMessage | undefined;
  owner: string | undefined;
  leaseEndsAt: number;
  stop: StopRequest | undefined;
  queue: RunQueueName;
  movedAt: number;
  fruitlessClaims: number;
  activation: number;
  activatedAt: number;
}

/** A new run: its input is not in its thread yet, and it is not claimed. */
export const newRunRow = (run: Run, input: NewMessage): RunRow => ({
  run,
  log: [],
  holdsThread: false,
  queuedInput: input,
  owner: undefined,
  leaseEndsAt: 0,
  stop: undefined,
  queue: 'runs',
  movedAt: 0,
  fruitlessClaims: 0,
  activation: 0,
  activatedAt: 0,
});

export const isDue = (status: RunStatus): boolean =>
  status === 'queued' || status === 'running' || status === 'stopping';
export const hasOpenCall = (log: readonly RecordedFact[]): boolean => openCalls(replay(log)).length > 0;

/** The end of a run that no worker holds: nothing had to be aborted or killed. */
export function stoppedAtOnce({ iteration, usage }: Run, { reason, requestedAt }: StopRequest): NewFact {
  const receipt = { requested_at: requestedAt, model_aborted_at: null, tools_stopped: [], tokens_after_stop: 0 };
  const data = { reason, receipt: { ...receipt, sandbox_verified_at: null }, usage };
  return { type: 'run.stopped', iteration, data };
}
