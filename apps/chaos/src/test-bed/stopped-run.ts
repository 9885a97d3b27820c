import { isTerminalFact } from '@rondo/contract';
import { type Fact, type ModelRequest } from '@rondo/test-deployment';
import type { LaunchedRun } from './start-runs';
import type { TestBed } from './test-bed';

/** A run for which a stop was requested. */
export interface StoppedRun {
  readonly run: LaunchedRun;
  readonly askedAt: number;
  /** Its requests, as the demo model recorded them. */
  readonly modelRequests: readonly ModelRequest[];
}

/** The time from the stop request until each open model stream was closed, in ms. */
export const modelClosings = ({ askedAt, modelRequests }: StoppedRun): number[] =>
  modelRequests
    .map(({ closed_by_client_at, ended_at }) => Date.parse(closed_by_client_at ?? ended_at ?? ''))
    .map((end) => (Number.isNaN(end) ? Infinity : end - askedAt))
    .filter((ms) => ms > 0);

interface Receipt {
  readonly requested_at: string;
  readonly tools_stopped: readonly { readonly verified_dead_at: string | null }[];
  readonly child_runs_stopped?: readonly { readonly run_id: string; readonly ended_at: string | null }[];
}

/** The stop receipt; absent when the run had ended before. */
export const receiptIn = (facts: readonly Fact[]): Receipt | undefined =>
  facts.at(-1)?.data.receipt as Receipt | undefined;

/** For each tool in the receipt: the time until it was verified dead, or undefined when it was not verified. */
export const toolDeaths = ({ askedAt }: StoppedRun, facts: readonly Fact[]): (number | undefined)[] =>
  (receiptIn(facts)?.tools_stopped ?? []).map(({ verified_dead_at: at }) =>
    at === null ? undefined : Math.max(0, Date.parse(at) - askedAt),
  );

/** Requests already sent when a process died may arrive this much later. */
const inFlightMs = 250;

/**
 * The number of effects and model requests that arrived after the run's terminal fact. Effects of a command that the receipt
 * says was not seen dead are none: it promises nothing of them.
 */
export function newCalls(testBed: TestBed, { run, modelRequests }: StoppedRun, facts: readonly Fact[]): number {
  const mayLive = receiptIn(facts)?.tools_stopped.some(({ verified_dead_at: at }) => at === null) ?? false;
  const overAt = Date.parse(facts.find(isTerminalFact)?.at ?? '') + inFlightMs;
  const { requests } = testBed.effects.ledger;
  const effects = mayLive ? [] : requests.filter(({ tag, at }) => tag.startsWith(`${run.tag}/`) && at > overAt);
  return effects.length + modelRequests.filter(({ arrived_at }) => Date.parse(arrived_at) > overAt).length;
}
