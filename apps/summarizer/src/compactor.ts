import type { NewFact, RecordedFact, RunError, RunId } from '@rondo/contract';
import {
  type AgentRun,
  ClaimLostError,
  type ClaimedRun,
  type RunStore,
  type SummarizePorts,
  compactionFailed,
  replay,
  summarize,
} from '@rondo/domain';
import { type ActiveCompactions, LeavingError, StoppedError } from './active-compactions';

/** How a job ended. `given up`: without a summary, which harms nothing. */
export type CompactionOutcome = 'not due' | 'folded' | 'given up' | 'handed over' | 'claim lost';

export interface CompactorParts {
  readonly owner: string;
  readonly store: RunStore;
  readonly feed: { publish(facts: readonly RecordedFact[]): void };
  readonly held: ActiveCompactions;
  readonly ports: SummarizePorts;
  /** For runs that name no model for their summaries. */
  readonly summaryModel: string | undefined;
  /** The run is due elsewhere: brings it to its queue. */
  readonly moved: () => Promise<void>;
}

/** After so many claims in a row that brought nothing, the run goes on without a summary. */
const hopelessAfter = 3;

/** Takes a run that waits for a summary, writes it, and sends the run back to the workers: with one, or without. */
export class Compactor {
  constructor(private readonly parts: CompactorParts) {}

  /** Rejects only when the database cannot be reached; the lease then runs out and the reaper queues the run again. */
  async compact(id: RunId): Promise<CompactionOutcome> {
    const { store, owner, held } = this.parts;
    const claim = await store.claim(id, owner);
    if (!claim) return 'not due';

    try {
      return await held.during(claim, (signal) => this.write(claim, signal));
    } catch (error) {
      return await this.leave(claim, error);
    }
  }

  private async write(claim: ClaimedRun, signal: AbortSignal): Promise<CompactionOutcome> {
    signal.throwIfAborted();
    if (claim.fruitlessClaims >= hopelessAfter) return this.giveUp(claim, hopeless);

    const facts = await summarize(this.runOf(claim), this.parts.ports, signal);
    signal.throwIfAborted();
    if (facts.length === 0) return this.giveUp(claim, nothingOpen);
    return this.append(claim, facts);
  }

  private async leave(claim: ClaimedRun, error: unknown): Promise<CompactionOutcome> {
    if (error instanceof ClaimLostError) return 'claim lost';
    if (error instanceof StoppedError) return this.giveUp(claim, stopped);
    await this.parts.store.handOver(claim, { broke: !(error instanceof LeavingError) });
    await this.parts.moved();
    if (!(error instanceof LeavingError)) throw error;
    return 'handed over';
  }

  private giveUp(claim: ClaimedRun, error: RunError): Promise<CompactionOutcome> {
    return this.append(claim, compactionFailed(this.runOf(claim).state, error));
  }

  private async append(claim: ClaimedRun, facts: readonly NewFact[]): Promise<CompactionOutcome> {
    const { store, feed, moved } = this.parts;
    try {
      feed.publish(await store.append(claim, facts));
    } catch (error) {
      if (error instanceof ClaimLostError) return 'claim lost';
      throw error;
    }
    await moved();
    return facts.at(-1)?.type === 'context.compacted' ? 'folded' : 'given up';
  }

  private runOf({ runId, threadId, run, log, earlier }: ClaimedRun): AgentRun {
    const { settings } = run;
    const summaryModel = settings.context.summary_model ?? this.parts.summaryModel;
    const context = { ...settings.context, ...(summaryModel !== undefined && { summary_model: summaryModel }) };
    return {
      id: runId,
      threadId,
      settings: { ...settings, context },
      createdAt: run.created_at,
      state: replay(log, earlier),
    };
  }
}

const stopped: RunError = { code: 'stopped', message: 'The run was told to stop.' };
const hopeless: RunError = {
  code: 'no_progress',
  message: `Writing the summary was begun ${hopelessAfter} times and never ended.`,
};
const nothingOpen: RunError = { code: 'nothing_to_fold', message: 'No compaction was open.' };
