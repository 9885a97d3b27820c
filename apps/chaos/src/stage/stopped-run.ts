import { type Fact, type ModelRequest, isTerminal } from '@rondo/test-deployment';
import type { LaunchedRun } from './run-work';
import type { Stage } from './stage';

/** A run that was told to stop. */
export interface StoppedRun {
  readonly run: LaunchedRun;
  readonly askedAt: number;
  /** Its requests, as the demo model saw them. */
  readonly modelRequests: readonly ModelRequest[];
}

/** How long each stream that was open, or opened later, lived on after the stop was asked for; in ms. */
export const modelClosings = ({ askedAt, modelRequests }: StoppedRun): number[] =>
  modelRequests
    .map(({ closed_by_client_at, ended_at }) => Date.parse(closed_by_client_at ?? ended_at ?? ''))
    .map((end) => (Number.isNaN(end) ? Infinity : end - askedAt))
    .filter((ms) => ms > 0);

interface Receipt {
  readonly requested_at: string;
  readonly tools_stopped: readonly { readonly verified_dead_at: string | null }[];
}

/** A run that was over before has none. */
export const receiptIn = (facts: readonly Fact[]): Receipt | undefined =>
  facts.at(-1)?.data.receipt as Receipt | undefined;

/** For each tool that the receipt names: after how many ms it was seen dead, or undefined when nobody saw it. */
export const toolDeaths = ({ askedAt }: StoppedRun, facts: readonly Fact[]): (number | undefined)[] =>
  (receiptIn(facts)?.tools_stopped ?? []).map(({ verified_dead_at: at }) =>
    at === null ? undefined : Math.max(0, Date.parse(at) - askedAt),
  );

/** What was on the wire when its sender died may still arrive. */
const onTheWireMs = 250;

/** What the run still did to the outside after it had said that it was over. */
export function newCalls(stage: Stage, { run, modelRequests }: StoppedRun, facts: readonly Fact[]): number {
  const overAt = Date.parse(facts.find(isTerminal)?.at ?? '') + onTheWireMs;
  const effects = stage.effects.ledger.requests.filter(({ tag, at }) => tag.startsWith(`${run.tag}/`) && at > overAt);
  return effects.length + modelRequests.filter(({ arrived_at }) => Date.parse(arrived_at) > overAt).length;
}
