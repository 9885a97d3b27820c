import { type NewFact, type NewMessage, type RecordedFact, type Run, type RunStatus, messageId } from '@rondo/contract';
import { type RunQueueName, type StopRequest, openCalls, replay, stopUnheldRun } from '@rondo/domain';

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
export function stopAtOnce({ run, log }: RunRow, stop: StopRequest): NewFact[] {
  const reply = replay(log);
  const ids = { messageId: () => messageId.parse(`msg_${run.id.slice('run_'.length)}stopped`) };
  const answering = { run: { id: run.id, threadId: run.thread_id }, state: reply, ports: { ids } };
  return stopUnheldRun(answering, { usage: run.usage, reply }, stop);
}
