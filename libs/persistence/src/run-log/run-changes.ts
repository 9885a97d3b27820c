import {
  type NewFact,
  type RunFailure,
  type RunStatus,
  type Usage,
  type Waiting,
  addUsage,
  noUsage,
} from '@rondo/contract';
import { type RunQueueName, type StopRequest, isProgress, movesTo, yieldsToStop } from '@rondo/domain';

/** What a run's row becomes by facts. Null: as before. */
export interface RunChanges {
  readonly status: RunStatus | null;
  readonly iteration: number;
  readonly finishReason: string | null;
  readonly error: RunFailure | null;
  /** Goes with the status: a run that waits has it, any other has not. */
  readonly waiting: Waiting | null;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
  readonly stop: StopRequest | null;
  /** To be added. */
  readonly usage: Usage;
  /** Would end or park the run otherwise than as stopped, so a stop request goes first (I7). */
  readonly yieldsToStop: boolean;
  readonly terminal: boolean;
  readonly progress: boolean;
  /** The queue that it belongs to from now on; the claim ends where that is another one. */
  readonly movesTo: RunQueueName | null;
}

type Draft = { -readonly [Key in keyof RunChanges]: RunChanges[Key] };

/** `at` is when the facts were stated. */
export function runChanges(facts: readonly NewFact[], at: string): RunChanges {
  const changes: Draft = {
    status: null,
    iteration: 0,
    finishReason: null,
    error: null,
    waiting: null,
    startedAt: null,
    finishedAt: null,
    stop: null,
    usage: noUsage,
    yieldsToStop: false,
    terminal: false,
    progress: false,
    movesTo: null,
  };
  for (const fact of facts) {
    changes.iteration = fact.iteration;
    changes.yieldsToStop ||= yieldsToStop(fact);
    changes.progress ||= isProgress(fact);
    changes.movesTo = movesTo(fact) ?? changes.movesTo;
    change(changes, fact, at);
  }
  return changes;
}

function change(changes: Draft, fact: NewFact, at: string): void {
  switch (fact.type) {
    case 'run.started':
      changes.status = 'running';
      changes.startedAt = at;
      return;
    case 'run.waiting':
      changes.status = fact.data.reason === 'budget' ? 'waiting_budget' : 'waiting_input';
      changes.waiting = fact.data;
      return;
    case 'run.resumed':
      changes.status = 'queued';
      changes.waiting = null;
      return;
    case 'run.stop_requested':
      changes.status = 'stopping';
      changes.stop = { requestedAt: fact.data.requested_at, reason: fact.data.reason };
      return;
    case 'run.completed':
      end(changes, 'completed', at);
      changes.finishReason = fact.data.finish_reason;
      return;
    case 'run.failed':
      end(changes, 'failed', at);
      changes.finishReason = 'error';
      changes.error = fact.data.error;
      return;
    case 'run.stopped':
      end(changes, 'stopped', at);
      changes.finishReason = 'stopped';
      return;
    case 'usage.recorded':
      changes.usage = addUsage(changes.usage, fact.data);
      return;
    case 'run.created':
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
      return;
  }
}

function end(changes: Draft, status: 'completed' | 'failed' | 'stopped', at: string): void {
  changes.status = status;
  changes.finishedAt = at;
  changes.waiting = null;
  changes.terminal = true;
}
