import { type FactTable, lookUp } from './event-kinds.ts';
import type { Fact } from './generated/api.ts';
import { type RunView, addUsage } from './run-view.ts';

type Changes = (before: RunView) => Partial<Omit<RunView, 'rows' | 'lastSeq'>>;

const over = { isOver: true, waiting: null } as const;

const waitingStatuses: Partial<Record<string, RunView['status']>> = {
  budget: 'waiting_budget',
  child_runs: 'waiting_child',
  caller_tools: 'waiting_tool',
};

const table = {
  'run.created': () => () => ({ status: 'queued' }),
  'run.started': () => () => ({ status: 'running' }),
  'run.waiting':
    ({ data }) =>
    () => ({ status: waitingStatuses[data.reason] ?? 'waiting_input', waiting: data }),
  'run.resumed': () => () => ({ status: 'running', waiting: null }),
  'run.stop_requested': () => () => ({ status: 'stopping', waiting: null }),
  'run.completed':
    ({ data: { finish_reason: finishReason, usage } }) =>
    () => ({ ...over, status: 'completed', finishReason, usage }),
  'run.failed':
    ({ data: { error: failure, receipt, usage } }) =>
    () => ({
      ...over,
      status: 'failed',
      finishReason: 'error',
      failure,
      ...(receipt && { stop: { reason: failure.message, receipt } }),
      usage,
    }),
  'run.stopped':
    ({ data: { reason, receipt, usage } }) =>
    () => ({ ...over, status: 'stopped', finishReason: 'stopped', stop: { reason, receipt }, usage }),
  'usage.recorded':
    ({ data }) =>
    ({ usage }) => ({ usage: addUsage(usage, data) }),
} satisfies FactTable<Changes>;

/** The types of facts that change the run itself. */
export type StatusFactType = keyof typeof table;

/** What a fact changes of the run itself; of most, nothing. */
export const statusChanges = (before: RunView, fact: Fact): Partial<RunView> | undefined =>
  lookUp<Changes>(table, fact)?.(before);
