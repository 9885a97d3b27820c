import type { OverlapPolicy } from '@rondo/contract';
import { type ExecutionOutcome, TriggerBusyError } from '@rondo/persistence';
import { problemResponse } from '../problems/problem-response';

/** Executions of one trigger that wait for an earlier run. */
const mostPending = 100;

/** The delay before each further attempt. */
const retryDelaysMs = [10_000, 60_000, 300_000];

interface Refusal {
  readonly error: unknown;
  /** With this one. */
  readonly attempts: number;
  readonly now: Date;
  readonly overlap: OverlapPolicy;
  readonly pending: number;
}

/** What becomes of a firing whose run was not created. */
export function outcomeOfRefusal({ error, attempts, now, overlap, pending }: Refusal): ExecutionOutcome {
  const { code, status, detail = '' } = problemResponse(error).body;
  if (code === 'thread_busy' || error instanceof TriggerBusyError) {
    if (overlap !== 'queue') return { status: 'skipped', reason: 'overlap', error: null, attempts: 0 };
    if (pending >= mostPending) return { status: 'skipped', reason: 'queue_full', error: null, attempts: 0 };
    return { status: 'pending', reason: 'overlap', error: null, attempts: 0, nextAttemptAt: now };
  }
  const delayMs = retryDelaysMs[attempts - 1];
  const isTemporary = status === 429 || status >= 500;
  if (!isTemporary || delayMs === undefined)
    return { status: 'failed', reason: null, error: { code, detail }, attempts };
  const nextAttemptAt = new Date(now.getTime() + delayMs);
  return { status: 'pending', reason: 'retry', error: { code, detail }, attempts, nextAttemptAt };
}
