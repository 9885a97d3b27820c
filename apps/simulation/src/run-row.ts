import {
  type NewFact,
  type NewMessage,
  type RecordedFact,
  type Run,
  type RunStatus,
  type Waiting,
  addUsage,
} from '@rondo/contract';
import { type RunQueueName, type StopRequest, openCalls, replay } from '@rondo/domain';

export interface RunRow {
  run: Run;
  readonly log: RecordedFact[];
  holdsThread: boolean;
  /** The input of a run that has not come forward on its thread yet. */
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

/** A run as it is before anything has happened to it: on no thread, claimed by nobody. */
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

/** The run as it stands after one more fact. */
export function runAfter(run: Run, fact: RecordedFact): Run {
  const next = { ...run, last_seq: fact.seq, iteration: fact.iteration };
  const status = (to: RunStatus, waiting: Waiting | null = null): Run => ({ ...next, status: to, waiting });
  switch (fact.type) {
    case 'run.started':
      return run.stop_requested_at === null ? status('running') : next;
    case 'run.waiting':
      return status(fact.data.reason === 'budget' ? 'waiting_budget' : 'waiting_input', { reason: fact.data.reason });
    case 'run.resumed':
      return status(run.stop_requested_at === null ? 'queued' : 'stopping');
    case 'run.completed':
      return { ...status('completed'), finish_reason: fact.data.finish_reason };
    case 'run.failed':
      return { ...status('failed'), finish_reason: 'error', error: fact.data.error };
    case 'run.stopped':
      return { ...status('stopped'), finish_reason: 'stopped' };
    case 'usage.recorded':
      return { ...next, usage: addUsage(run.usage, fact.data) };
    case 'run.created':
    case 'run.stop_requested':
    case 'iteration.started':
    case 'iteration.restarted':
    case 'iteration.completed':
    case 'message.created':
    case 'model.retried':
    case 'tool.planned':
    case 'tool.started':
    case 'tool.completed':
    case 'tool.failed':
    case 'tool.unknown':
    case 'tool.resolved':
    case 'context.compaction_started':
    case 'context.compacted':
    case 'context.compaction_failed':
      return next;
  }
}
