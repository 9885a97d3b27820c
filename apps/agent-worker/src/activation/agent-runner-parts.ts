import type { NewFact, RecordedResult, RunId } from '@rondo/contract';
import type {
  AgentPorts,
  ClaimedRun,
  FairClaims,
  LastClaims,
  Model,
  RunFeed,
  RunMemory,
  RunStore,
  ThreadArchive,
  Tools,
  ToolSet,
  WaitingMessage,
} from '@rondo/domain';
import type { ActiveRuns } from '@rondo/run-holder';
import type { JournalSettings, RunJournal } from '../delivery/run-journal';
import type { AccountBudgets } from './account-budgets';
import type { AccountReservations } from './account-reservations';

export const activationOutcomes = [
  'not due',
  'not readable',
  'needs a newer version',
  'ended',
  'parked',
  'handed over',
  'claim lost',
] as const;
/** How an activation ended. */
export type ActivationOutcome = (typeof activationOutcomes)[number];

export interface ActiveTools<Result = RecordedResult> extends Tools<Result> {
  close(reason: Error): void;
}

/** The ports that all runs of a worker share. */
export interface RunPortsParts extends Pick<
  AgentPorts,
  'tokens' | 'resolveBudget' | 'findFacts' | 'ids' | 'clock' | 'honoursKeys' | 'leastInputPrice'
> {
  readonly accountBudgets?: AccountBudgets;
  readonly reservations?: AccountReservations | undefined;
}

export interface AgentRunnerParts extends RunPortsParts {
  readonly owner: string;
  readonly store: RunStore & FairClaims & LastClaims;
  readonly feed: Pick<RunFeed, 'publish'>;
  /** The claim with its workspace prepared; early, without that, after an abort. Absent: no run asks for it. */
  readonly withWorkspace?: (claim: ClaimedRun, signal: AbortSignal) => Promise<ClaimedRun>;
  /** The claim with its files delivered, and the images of its messages' URLs; early, without all of them, after an abort. */
  readonly prepared?: (claim: ClaimedRun, signal: AbortSignal) => Promise<ClaimedRun>;
  /** What a run records before it goes on, where its database was replaced; nothing otherwise. */
  readonly recordedFirst?: (claim: ClaimedRun, signal: AbortSignal) => Promise<readonly NewFact[]>;
  readonly modelFor: (claim: ClaimedRun) => Model;
  /** The tools of the run, which stay the same until its end. They are stored before it resolves, early after an abort. */
  readonly toolSetFor: (claim: ClaimedRun, signal: AbortSignal) => Promise<ToolSet>;
  readonly toolsFor: (claim: ClaimedRun, journal: RunJournal, toolSet: ToolSet) => ActiveTools;
  readonly toArchive?: (claim: ClaimedRun) => ThreadArchive;
  /** What people have told a run and it has not read. */
  readonly waitingMessages?: (claim: ClaimedRun) => Promise<readonly WaitingMessage[]>;
  readonly toMemory?: (claim: ClaimedRun) => RunMemory;
  /** What a run needs that starts others, or was started by another. */
  readonly toTree?: (claim: ClaimedRun) => Pick<AgentPorts, 'children' | 'treeBudget'>;
  /** Called for each claim; what it returns is called with how the activation ended. */
  readonly activated?: ((claim: ClaimedRun) => (outcome: ActivationOutcome | 'broke') => void) | undefined;
  /** Never rejects. */
  readonly afterActivation?: (claim: ClaimedRun, outcome: ActivationOutcome) => Promise<void>;
  readonly activeRuns: ActiveRuns;
  /** Called with each unexpected error of an activation, and with a NewerRunError for a run that is left to a newer version. */
  readonly onError: (details: { runId: RunId; fruitlessClaims: number; error: unknown }) => void;
  readonly journal: JournalSettings;
  /** Whether an error comes from an outage and not from the run, for example from a database that restarts. */
  readonly isOutage: (error: unknown) => boolean;
  /** Publishes the jobs that a handover or a compaction has committed. */
  readonly publishJobs: () => Promise<void>;
}
