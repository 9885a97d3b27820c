import {
  type NewFact,
  type RunError,
  type RunQueueName,
  type RunStatus,
  type StopRequest,
  type Usage,
  type Waiting,
  addUsage,
  isProgress,
  isTerminal,
  movesTo,
  noUsage,
  yieldsToStop,
} from '@rondo/domain';

/** A fact with the time at which it was stated. */
export interface TimedFact {
  readonly fact: NewFact;
  readonly at: string;
}

/** What a run's row becomes by facts. Null: as before. */
export interface RunChanges {
  readonly status: RunStatus | null;
  readonly iteration: number;
  readonly finishReason: string | null;
  readonly error: RunError | null;
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

const unchanged: RunChanges = {
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

export const runChanges = (facts: readonly TimedFact[]): RunChanges =>
  facts.reduce(
    (changes, timed) => ({ ...changes, ...rulesOf(changes, timed), ...changeBy(changes, timed) }),
    unchanged,
  );

const rulesOf = (changes: RunChanges, { fact }: TimedFact): Partial<RunChanges> => ({
  iteration: fact.iteration,
  yieldsToStop: changes.yieldsToStop || yieldsToStop(fact),
  progress: changes.progress || isProgress(fact),
  movesTo: movesTo(fact) ?? changes.movesTo,
});

function changeBy({ usage }: RunChanges, { fact, at }: TimedFact): Partial<RunChanges> {
  switch (fact.type) {
    case 'run.started':
      return { status: 'running', startedAt: at };
    case 'run.waiting':
      return parked(fact.data);
    case 'run.resumed':
      return { status: 'queued', waiting: null };
    case 'run.stop_requested':
      return { status: 'stopping', stop: { requestedAt: fact.data.requested_at, reason: fact.data.reason } };
    case 'run.completed':
      return { ...over('completed', at), finishReason: fact.data.finish_reason };
    case 'run.failed':
      return { ...over('failed', at), finishReason: 'error', error: fact.data.error };
    case 'run.stopped':
      return { ...over('stopped', at), finishReason: 'stopped' };
    case 'usage.recorded':
      return { usage: addUsage(usage, fact.data) };
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
      return {};
  }
}

const parked = (waiting: Waiting): Partial<RunChanges> => ({
  status: waiting.reason === 'budget' ? 'waiting_budget' : 'waiting_input',
  waiting,
});

const over = (status: RunStatus, at: string): Partial<RunChanges> => ({
  status,
  finishedAt: at,
  waiting: null,
  terminal: isTerminal(status),
});
