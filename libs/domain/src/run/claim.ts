import {
  type AccountId,
  type FinishReason,
  type Message,
  type NewFact,
  type NewMessage,
  type RecordedFact,
  type Run,
  type RunId,
  type ThreadId,
  type UserBlock,
  runId,
} from '@rondo/contract';
import { RunChangedError, type StopRequest } from '../errors';
import type { Ledger } from './ledger';
import type { ReplyState } from './run-state';

/** Who works on a run: the workers or the summarizers. A run is always in exactly one queue. */
export type RunQueueName = 'runs' | 'compactions';

/** The right of one holder to write a run. A later claim has a higher epoch, and then this one cannot write any more (I3). */
export interface Claim {
  readonly runId: RunId;
  readonly threadId: ThreadId;
  readonly epoch: number;
}

export interface ClaimedRun extends Claim {
  readonly accountId: AccountId;
  /** The thread whose workspace the run uses: its own, unless the threads of a project share one. */
  readonly workspaceId: ThreadId;
  readonly run: Run;
  /**
   * The facts that the run continues from: its log without the calls of completed iterations, and without the messages
   * that a summary replaces, except for the first and the last of these.
   */
  readonly log: readonly RecordedFact[];
  /** The thread's dialogue messages from before the run, in order, without those that a summary replaces. */
  readonly earlier: readonly Message[];
  /** The host of the sandbox of that workspace; null while there is none. */
  readonly executorId: string | null;
  /** The hash of the tool set that the run started with. Null before its start, and for runs of versions that stored none. */
  readonly toolSet: string | null;
  /** Set if a stop was requested before the claim. */
  readonly stop: StopRequest | undefined;
  /** Earlier claims in a row that ended without progress. */
  readonly fruitlessClaims: number;
  /** Messages may wait for the run that it has not read. */
  readonly mayHaveMessages?: boolean | undefined;
  /** When the job was queued that led to this claim, where the store knows. */
  readonly queuedSince?: string | undefined;
}

/** A claim on a run that can only be ended. */
export interface LastClaim extends Claim {
  readonly run: Run;
  /** Its open calls, without their arguments and results. */
  readonly calls: Ledger;
  readonly reply: ReplyState;
  readonly stop: StopRequest | undefined;
  readonly fruitlessClaims: number;
}

/** An account that a process has served, and the number of its runs that the process holds. */
export interface ServedAccount {
  readonly accountId: AccountId;
  readonly held: number;
}

export interface PendingStop {
  readonly runId: RunId;
  readonly stop: StopRequest;
}

type Fact = NewFact | RecordedFact;

/**
 * The queue that a fact moves its run to; undefined if the fact moves none. A fact that names the current queue moves
 * nothing, so a worker that records a failed compaction keeps its claim, and a summarizer that does loses it.
 */
export function movesTo(fact: Fact): RunQueueName | undefined {
  if (fact.type === 'context.compaction_started') return 'compactions';
  if (fact.type === 'context.compaction_failed') return 'runs';
  return fact.type === 'context.compacted' && fact.data.method === 'summary' ? 'runs' : undefined;
}

/** Facts that a holder writes at every new attempt. They are no progress. */
const noProgress: readonly Fact['type'][] = [
  'run.started',
  'mcp.connected',
  'mcp.skipped',
  'workspace.preparing',
  'database.replaced',
  'iteration.restarted',
  'model.retried',
  'model.fell_back',
];

export const isProgress = ({ type }: Fact): boolean => !noProgress.includes(type);

/** A run can crash every worker that claims it. After so many claims in a row without progress it fails. */
export const maxFruitlessClaims = 10;

/** The code of a run that was stopped with an error. */
export const stoppedWithError = 'stopped_with_error';

/** Facts that a requested stop overrules: they would end or park the run other than as the stop says (I7). */
const yielding: readonly Fact['type'][] = ['run.completed', 'run.failed', 'run.waiting', 'context.compaction_started'];

export const yieldsToStop = (fact: Fact): boolean =>
  yielding.includes(fact.type) && !(fact.type === 'run.failed' && fact.data.error.code === stoppedWithError);

/**
 * Whether a batch yields to a change from outside: it parks or ends its run because of its budget, which a raised budget overrules,
 * or ends it with a reply, after which it could read a message. A reply that was cut off by the budget is over in any case.
 */
export const yieldsToChange = (facts: readonly Fact[]): boolean =>
  facts.some(endsWithReply) ||
  (facts.some(isForBudget) &&
    !facts.some((fact) => fact.type === 'iteration.completed' && fact.data.finish_reason === 'length'));

/** Why a run ends whatever else it is told. */
const limits: readonly FinishReason[] = ['max_iterations', 'budget_exceeded', 'loop_detected'];

const endsWithReply = (fact: Fact): boolean =>
  fact.type === 'run.completed' && !limits.includes(fact.data.finish_reason);

const isForBudget = (fact: Fact): boolean =>
  (fact.type === 'run.waiting' && fact.data.reason === 'budget') ||
  (fact.type === 'run.completed' && fact.data.finish_reason === 'budget_exceeded');

/** What is written of a batch that was overruled. Reading is decided on again, and whether a changed run's iteration is its last. */
export function withoutEnd(facts: readonly NewFact[], overruledBy: Error): readonly NewFact[] {
  const isDecidedAgain = (fact: NewFact) =>
    runsRead([fact]).length > 0 || (overruledBy instanceof RunChangedError && fact.type === 'iteration.completed');
  const next = facts.findIndex(isDecidedAgain);
  return (next < 0 ? facts : facts.slice(0, next)).filter((fact) => !endsClaim(fact));
}

/** Facts that end a claim, because the run ends, or waits. */
const endsClaim = (fact: Fact): boolean => yielding.includes(fact.type) || fact.type === 'run.stopped';

/** What a person told a run that was at work: the input of a queued run, which begins with it if it is not read before. */
export interface WaitingMessage {
  readonly queuedRun: RunId;
  readonly content: readonly UserBlock[];
}

/** The queued run of a message that another run has read. */
export const readQueuedRun = ({ metadata }: Pick<NewMessage, 'metadata'>): RunId | undefined =>
  runId.safeParse(metadata['queued_as']).data;

/** The queued runs whose input the facts bring into this run. They end with the facts. */
export const runsRead = (facts: readonly NewFact[]): readonly RunId[] =>
  facts.flatMap((fact) => (fact.type === 'message.created' ? (readQueuedRun(fact.data.message) ?? []) : []));
