import type { NewFact, RunError, RunId } from '@rondo/contract';
import {
  type AgentRun,
  ClaimLostError,
  type ClaimedRun,
  type Model,
  NewerRunError,
  type RunFeed,
  type RunStore,
  type SummarizePorts,
  type ToolSet,
  compactionFailed,
  toAgentRun,
  replay,
  summarize,
} from '@rondo/domain';
import { AbandonedError, type ActiveRun, type ActiveRuns, OutageBackoff, handOver } from '@rondo/run-holder';

export const compactionOutcomes = [
  'not due',
  'needs a newer version',
  'summarized',
  'no summary',
  'handed over',
  'claim lost',
] as const;
/** How a job ended. `no summary`: the run continues without one. `needs a newer version`: it is left to a newer summarizer. */
export type CompactionOutcome = (typeof compactionOutcomes)[number];

export interface CompactorParts {
  readonly owner: string;
  readonly store: RunStore;
  readonly feed: Pick<RunFeed, 'publish'>;
  readonly activeRuns: ActiveRuns;
  /** Called for each claim; what it returns is called with how the compaction ended. */
  readonly activated?: ((claim: ClaimedRun) => (outcome: CompactionOutcome | 'broke') => void) | undefined;
  /** The tools of the run: their descriptions count as a part of the context. */
  readonly toolSetFor: (claim: ClaimedRun) => Promise<ToolSet>;
  readonly ports: SummarizePorts;
  /** For runs that configure no model for summaries. */
  readonly summaryModel: string | undefined;
  /** The database is away. */
  readonly isOutage: (error: unknown) => boolean;
  /** Publishes the job of a run that has moved to another queue. */
  readonly publishJobs: () => Promise<void>;
}

/** After so many claims in a row without progress, the run continues without a summary. */
const maxFruitlessClaims = 3;

/** Claims a run that waits for a summary, writes one or fails to, and moves the run back to the workers' queue. */
export class Compactor {
  private readonly outage = new OutageBackoff();

  constructor(private readonly parts: CompactorParts) {}

  /** Rejects only when the database cannot be reached; the lease then expires and the reaper queues the run again. */
  async compact(id: RunId): Promise<CompactionOutcome> {
    const { store, owner } = this.parts;
    const claim = await store.claim(id, owner).catch((error: unknown) => {
      if (error instanceof NewerRunError) return error;
      throw error;
    });
    if (claim instanceof NewerRunError) return 'needs a newer version';
    if (!claim) return 'not due';

    const ended = this.parts.activated?.(claim);
    let outcome: CompactionOutcome | 'broke' = 'broke';
    try {
      return (outcome = await this.compactClaimed(claim));
    } finally {
      ended?.(outcome);
    }
  }

  private async compactClaimed(claim: ClaimedRun): Promise<CompactionOutcome> {
    const { activeRuns } = this.parts;
    const run = activeRuns.add(claim);
    try {
      const outcome = await this.write(claim, AbortSignal.any([run.signals.stop, run.signals.abandon]));
      this.outage.reset();
      return outcome;
    } catch (error) {
      return await this.handleError(run, error);
    } finally {
      activeRuns.remove(run);
    }
  }

  private async write(claim: ClaimedRun, signal: AbortSignal): Promise<CompactionOutcome> {
    signal.throwIfAborted();
    if (claim.fruitlessClaims >= maxFruitlessClaims) return this.failCompaction(claim, noProgress);

    const facts = await summarize(await this.readRun(claim), this.portsFor(claim), signal);
    signal.throwIfAborted();
    if (facts.length === 0) return this.failCompaction(claim, nothingOpen);
    return this.append(claim, facts);
  }

  /** A shutdown or an outage says nothing about the run, and is no attempt at its summary. */
  private async handleError(run: ActiveRun, error: unknown): Promise<CompactionOutcome> {
    const { claim, signals } = run;
    if (error instanceof ClaimLostError) return 'claim lost';
    if (signals.stop.aborted && error === signals.stop.reason) return this.failCompaction(claim, stopped);
    const isOutage = this.parts.isOutage(error);
    if (isOutage) await this.outage.pause(run);
    const broke = !isOutage && !(error instanceof AbandonedError);
    await handOver(claim, { broke }, this.parts);
    await this.parts.publishJobs();
    if (broke) throw error;
    return 'handed over';
  }

  private failCompaction(claim: ClaimedRun, error: RunError): Promise<CompactionOutcome> {
    return this.append(claim, compactionFailed(replay(claim.log, claim.earlier), error));
  }

  private async append(claim: ClaimedRun, facts: readonly NewFact[]): Promise<CompactionOutcome> {
    const { store, feed, publishJobs } = this.parts;
    try {
      feed.publish(await store.append(claim, facts));
    } catch (error) {
      if (error instanceof ClaimLostError) return 'claim lost';
      throw error;
    }
    await publishJobs();
    return facts.at(-1)?.type === 'context.compacted' ? 'summarized' : 'no summary';
  }

  /** What a provider refuses of the requests of one account teaches nothing about those of others. */
  private portsFor({ accountId: account }: ClaimedRun): SummarizePorts {
    const { ports } = this.parts;
    const stream: Model['stream'] = (request, signal) => ports.model.stream({ ...request, account }, signal);
    return { ...ports, model: { stream } };
  }

  private async readRun(claim: ClaimedRun): Promise<AgentRun> {
    const run = toAgentRun(claim, await this.parts.toolSetFor(claim));
    const summary_model = run.settings.context.summary_model ?? this.parts.summaryModel;
    if (summary_model === undefined) return run;
    return { ...run, settings: { ...run.settings, context: { ...run.settings.context, summary_model } } };
  }
}

const stopped: RunError = { code: 'stopped', message: 'A stop of the run was requested.' };
const noProgress: RunError = {
  code: 'no_progress',
  message: `Writing the summary was started ${maxFruitlessClaims} times and never completed.`,
};
const nothingOpen: RunError = { code: 'nothing_to_summarize', message: 'No compaction was open.' };
