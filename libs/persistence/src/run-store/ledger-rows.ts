import type { CallId, NewFact, ToolCallStatus } from '@rondo/domain';
import { storedText } from '../stored-text';
import type { TimedFact } from './run-changes';

type FactOf<Type extends NewFact['type']> = Extract<NewFact, { type: Type }>;

/** What facts say of the run's iterations: those that begin, and what becomes of those that the log knows already. */
export interface IterationRow {
  readonly number: number;
  readonly message_id: string | null;
  readonly finish_reason: string | null;
  readonly restarts: number;
  readonly started_at: string | null;
  readonly completed_at: string | null;
}

export function iterationRows(facts: readonly TimedFact[]): IterationRow[] {
  const rows = new Map<number, IterationRow>();
  for (const { fact, at } of facts) {
    const row = rows.get(fact.iteration) ?? { ...blankIteration, number: fact.iteration };
    const next = iterationAfter(row, fact, at);
    if (next) rows.set(fact.iteration, next);
  }
  return [...rows.values()];
}

const blankIteration: Omit<IterationRow, 'number'> = {
  message_id: null,
  finish_reason: null,
  restarts: 0,
  started_at: null,
  completed_at: null,
};

function iterationAfter(row: IterationRow, fact: NewFact, at: string): IterationRow | undefined {
  if (fact.type === 'iteration.started') return { ...row, message_id: fact.data.message_id, started_at: at };
  if (fact.type === 'iteration.restarted')
    return { ...row, message_id: fact.data.message_id, restarts: row.restarts + 1 };
  if (fact.type === 'iteration.completed') return { ...row, finish_reason: fact.data.finish_reason, completed_at: at };
  return undefined;
}

/** A row of the effect ledger as facts change it. Null: as before. Only a planned call has `plan`. */
export interface ToolCallRow {
  readonly id: CallId;
  readonly plan: FactOf<'tool.planned'>['data']['tool_call'] | null;
  readonly status: ToolCallStatus;
  readonly result: string | null;
  readonly attempt: number | null;
  readonly started_at: string | null;
  readonly finished_at: string | null;
}

export function toolCallRows(facts: readonly TimedFact[]): ToolCallRow[] {
  const rows = new Map<CallId, ToolCallRow>();
  for (const { fact, at } of facts) {
    const change = toolCallChange(fact, at);
    if (change) rows.set(change.id, { ...(rows.get(change.id) ?? blankCall), ...change });
  }
  return [...rows.values()];
}

const blankCall = { plan: null, result: null, attempt: null, started_at: null, finished_at: null };

function toolCallChange(
  fact: NewFact,
  at: string,
): (Partial<ToolCallRow> & Pick<ToolCallRow, 'id' | 'status'>) | undefined {
  if (fact.type === 'tool.planned') {
    const { tool_call: plan } = fact.data;
    return { id: plan.id, plan, status: plan.status, attempt: plan.attempt };
  }
  if (fact.type === 'tool.started')
    return { id: fact.data.tool_call_id, status: 'dispatched', attempt: fact.data.attempt, started_at: at };
  if (fact.type === 'tool.completed' || fact.type === 'tool.failed') {
    const status = fact.type === 'tool.completed' ? 'completed' : 'failed';
    return { id: fact.data.tool_call_id, status, result: JSON.stringify(fact.data.result), finished_at: at };
  }
  if (fact.type === 'tool.unknown') {
    const { tool_call_id: id, message_id: told } = fact.data;
    return { id, status: 'unknown', ...(told && { finished_at: at }) };
  }
  if (fact.type === 'tool.resolved' && fact.data.outcome === 'retry')
    return { id: fact.data.tool_call_id, status: 'planned' };
  return undefined;
}

/** A model call and what it used (R35). */
export const modelCallRows = (facts: readonly TimedFact[]) =>
  facts.flatMap(({ fact, at }) =>
    fact.type === 'usage.recorded'
      ? [
          {
            ...fact.data,
            model: storedText(fact.data.model),
            finish_reason: storedText(fact.data.finish_reason),
            iteration: fact.iteration,
            at,
          },
        ]
      : [],
  );
