import { setTimeout as sleep } from 'node:timers/promises';
import type { NewFact, RecordedFact } from '@rondo/contract';
import { type ClaimedRun, type RunStore, TerminalError } from '@rondo/domain';
import { TunnelError } from '@rondo/messaging';
import { isDatabaseUnavailable } from '@rondo/persistence';

// What the steps share that prepare a claimed run with the help of its executor, before the model is asked.

/** So long a run waits, with the worker that holds it, for a person who has to allow a secret. */
export const longestDecisionMs = 600_000;

/** The pauses between them double, so an executor that was killed has about half a minute to come back. */
const attempts = 6;
const passing = new Set(['executor_away', 'executor_busy', 'unavailable', 'lost', 'tunnel_lost', 'aborted']);

/** Whether the executor is asked again after this attempt, the first of which is 1. */
export const mayTryAgain = ({ code }: { readonly code: string }, attempt: number): boolean =>
  passing.has(code) && attempt < attempts;

/** Resolves early at an abort. */
export async function pauseAfter(attempt: number, pauseMs: number, signal: AbortSignal): Promise<void> {
  await sleep(pauseMs * 2 ** Math.max(0, attempt - 1), undefined, { signal }).catch(() => undefined);
}

export interface ExecutorFinder {
  /** The executor that has the workspace, or will have it. */
  readonly placement: (claim: ClaimedRun) => Promise<string>;
  /** Resolves when NATS is there, or when the signal is aborted. */
  readonly untilConnected: (signal: AbortSignal) => Promise<void>;
}

/**
 * Waits for NATS, without which no executor can be asked: its outage is no attempt. Rejects with TunnelError where no executor
 * takes the run now, with TerminalError where none ever will, and with the error of a database that is away.
 */
export async function findExecutor(
  { placement, untilConnected }: ExecutorFinder,
  claim: ClaimedRun,
  signal: AbortSignal,
): Promise<string> {
  await untilConnected(signal);
  if (signal.aborted) throw new TunnelError('aborted', 'The run was stopped or left.');
  try {
    return await placement(claim);
  } catch (error) {
    if (error instanceof TerminalError || isDatabaseUnavailable(error)) throw error;
    throw new TunnelError('executor_away', 'No executor takes a new sandbox now.');
  }
}

interface Log {
  readonly append: RunStore['append'];
  readonly publish: (facts: readonly RecordedFact[]) => void;
}

/** The claim with one more fact in its log. */
export async function withRecorded({ append, publish }: Log, claim: ClaimedRun, fact: NewFact): Promise<ClaimedRun> {
  const facts = await append(claim, [fact]);
  publish(facts);
  const last_seq = facts.at(-1)?.seq ?? claim.run.last_seq;
  return { ...claim, log: [...claim.log, ...facts], run: { ...claim.run, last_seq } };
}
