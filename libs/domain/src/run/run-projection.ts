import {
  type FinishReason,
  type NewFact,
  type RecordedFact,
  type Run,
  type RunFailure,
  type RunStatus,
  type Usage,
  type Waiting,
  addUsage,
  isTerminalFact,
  noUsage,
} from '@rondo/contract';
import type { StopRequest } from '../errors';
import { isProgress, movesTo, yieldsToChange, yieldsToStop, type RunQueueName } from './claim';

/** What a batch of facts changes in the run's row. Null means unchanged. */
export interface RunChanges {
  readonly status: RunStatus | null;
  readonly iteration: number;
  readonly finishReason: FinishReason | null;
  readonly error: RunFailure | null;
  /** Written together with the status: set for a waiting run, null for any other. */
  readonly waiting: Waiting | null;
  readonly startedAt: string | null;
  /** The hash of the tool set that the run starts with. */
  readonly toolSet: string | null;
  readonly finishedAt: string | null;
  readonly stop: StopRequest | null;
  /** Added to the run's usage. */
  readonly usage: Usage;
  /** The facts end or park the run other than by a stop, so the store refuses them once a stop was requested (I7). */
  readonly yieldsToStop: boolean;
  /** The facts end the run with a reply, or park or end it for its budget, so the store refuses them if the run was changed during the claim. */
  readonly yieldsToChange: boolean;
  readonly terminal: boolean;
  readonly progress: boolean;
  /** The queue that the run belongs to from now on. The claim ends when it is another one. */
  readonly movesTo: RunQueueName | null;
}

type Draft = { -readonly [Key in keyof RunChanges]: RunChanges[Key] };

/**
 * The one rule that turns facts into the run's row. Postgres applies it in the append statement, the in-memory stores by
 * `projectRun`. `at` is the time of the facts, ISO 8601.
 */
export function runChanges(facts: readonly NewFact[], at: string): RunChanges {
  const changes: Draft = {
    status: null,
    iteration: 0,
    finishReason: null,
    error: null,
    waiting: null,
    startedAt: null,
    toolSet: null,
    finishedAt: null,
    stop: null,
    usage: noUsage,
    yieldsToStop: false,
    yieldsToChange: yieldsToChange(facts),
    terminal: false,
    progress: false,
    movesTo: null,
  };
  for (const fact of facts) {
    changes.iteration = fact.iteration;
    changes.yieldsToStop ||= yieldsToStop(fact);
    changes.progress ||= isProgress(fact);
    changes.terminal ||= isTerminalFact(fact);
    changes.movesTo = movesTo(fact) ?? changes.movesTo;
    change(changes, fact, at);
  }
  return changes;
}

function change(changes: Draft, fact: NewFact, at: string): void {
  switch (fact.type) {
    case 'run.started':
      begin(changes, fact.data.tool_set ?? null, at);
      return;
    case 'run.waiting':
      wait(changes, fact.data);
      return;
    case 'run.resumed':
      resume(changes);
      return;
    case 'run.stop_requested':
      beginStop(changes, fact.data);
      return;
    case 'run.completed':
    case 'run.failed':
    case 'run.stopped':
      end(changes, toEnd(fact, at));
      return;
    case 'usage.recorded':
      changes.usage = addUsage(changes.usage, fact.data);
      return;
    case 'run.created':
    case 'budget.raised':
    case 'run.forked':
    case 'iteration.started':
    case 'iteration.restarted':
    case 'iteration.completed':
    case 'message.created':
    case 'model.retried':
    case 'model.fell_back':
    case 'browser.state':
    case 'mcp.connected':
    case 'mcp.skipped':
    case 'workspace.preparing':
    case 'workspace.prepared':
    case 'workspace.rewinding':
    case 'workspace.rewound':
    case 'database.replaced':
    case 'tool.planned':
    case 'tool.started':
    case 'tool.completed':
    case 'tool.failed':
    case 'tool.unknown':
    case 'tool.resolved':
    case 'tool.input_requested':
    case 'tool.input_given':
    case 'tool.task_created':
    case 'secret.requested':
    case 'secret.decided':
    case 'approval.requested':
    case 'approval.decided':
    case 'context.compaction_started':
    case 'context.compacted':
    case 'context.compaction_failed':
      return;
  }
}

function begin(changes: Draft, toolSet: Draft['toolSet'], at: string): void {
  changes.status = 'running';
  changes.startedAt = at;
  changes.toolSet = toolSet;
}

function wait(changes: Draft, waiting: Waiting): void {
  changes.status = waitingStatus[waiting.reason];
  changes.waiting = waiting;
}

function resume(changes: Draft): void {
  changes.status = 'queued';
  changes.waiting = null;
}

function beginStop(changes: Draft, request: Extract<NewFact, { type: 'run.stop_requested' }>['data']): void {
  const { requested_at: requestedAt, reason, error } = request;
  changes.status = 'stopping';
  changes.stop = { requestedAt, reason, error };
}

const waitingStatus: Record<Waiting['reason'], RunStatus> = {
  ask: 'waiting_input',
  approval: 'waiting_input',
  tool_unknown: 'waiting_input',
  budget: 'waiting_budget',
  child_runs: 'waiting_child',
  caller_tools: 'waiting_tool',
  elicitation: 'waiting_input',
};

interface End {
  readonly status: 'completed' | 'failed' | 'stopped';
  readonly finishReason: FinishReason;
  readonly at: string;
  readonly error?: RunFailure | null;
}

function toEnd(fact: Extract<NewFact, { type: 'run.completed' | 'run.failed' | 'run.stopped' }>, at: string): End {
  switch (fact.type) {
    case 'run.completed':
      return { status: 'completed', finishReason: fact.data.finish_reason, at };
    case 'run.failed':
      return { status: 'failed', finishReason: 'error', at, error: fact.data.error };
    case 'run.stopped':
      return { status: 'stopped', finishReason: 'stopped', at };
  }
}

function end(changes: Draft, { status, finishReason, at, error = changes.error }: End): void {
  changes.status = status;
  changes.finishedAt = at;
  changes.finishReason = finishReason;
  changes.waiting = null;
  changes.error = error;
}

/** The run as the API shows it after these facts, which are one batch: the same columns as the append statement sets. */
export function projectRun(run: Run, facts: readonly RecordedFact[]): Run {
  const last = facts.at(-1);
  if (!last) return run;
  const changes = runChanges(facts, last.at);
  const stopRequestedAt = run.stop_requested_at ?? changes.stop?.requestedAt ?? null;
  const status = changes.status ?? run.status;
  return {
    ...run,
    last_seq: last.seq,
    iteration: changes.iteration,
    status: changes.terminal || stopRequestedAt === null ? status : 'stopping',
    finish_reason: changes.finishReason ?? run.finish_reason,
    error: changes.error ?? run.error,
    waiting: changes.status === null ? run.waiting : changes.waiting,
    usage: addUsage(run.usage, changes.usage),
    started_at: run.started_at ?? changes.startedAt,
    finished_at: changes.finishedAt,
    stop_requested_at: stopRequestedAt,
  };
}

/** The run with nothing that facts say of it. */
export const beforeFirstFact = (run: Run): Run => ({
  ...run,
  ...{ last_seq: 0, iteration: 0, status: 'queued', finish_reason: null, error: null, waiting: null, usage: noUsage },
  ...{ started_at: null, finished_at: null, stop_requested_at: null },
});

/** The hash of the tool set that the run started with; null before its start, and where none was stored. */
export const toolSetIn = (log: readonly RecordedFact[]): string | null =>
  log.find((fact) => fact.type === 'run.started')?.data.tool_set ?? null;
