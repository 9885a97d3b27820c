import type { NewFact, NewMessage, RecordedFact, Run, RunStatus } from '@rondo/contract';
import { type RunQueueName, type StopRequest, nothingRan, openCalls, replay, stopped } from '@rondo/domain';

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
export const stoppedAtOnce = (run: Run, stop: StopRequest): NewFact =>
  stopped({ state: run }, stop, { ...nothingRan, requested_at: stop.requestedAt });
