import {
  type Environment,
  type NewFact,
  type RecordedFact,
  type RunId,
  type WorkspacePrepared,
  repositoryPath,
} from '@rondo/contract';
import { type ClaimedRun, type RunStore, TerminalError } from '@rondo/domain';
import { TunnelError } from '@rondo/messaging';
import {
  findExecutor,
  longestDecisionMs,
  mayTryAgain,
  pauseAfter,
  withRecorded,
} from '../activation/preparation-steps';

export interface WorkspacePreparationParts {
  /** Rejects with TunnelError. May be repeated, also while an earlier attempt is about to end. */
  readonly prepare: (
    claim: ClaimedRun,
    environment: Environment,
    how: { readonly executorId: string; readonly signal: AbortSignal },
  ) => Promise<WorkspacePrepared>;
  /** The executor that has the workspace, or will have it. */
  readonly placement: (claim: ClaimedRun) => Promise<string>;
  /** Whether a person has to allow the run to use a secret, or has just allowed it. */
  readonly awaitsSecret: (run: RunId) => Promise<boolean>;
  readonly append: RunStore['append'];
  readonly publish: (facts: readonly RecordedFact[]) => void;
  readonly pauseMs: number;
}

/**
 * Has the workspace of a run get what its environment names, before anything else of the run uses it. The log says that it is
 * wanted before it is done, and afterwards what is there: a worker that takes the run over in between asks for it again.
 */
export class WorkspacePreparation {
  constructor(private readonly parts: WorkspacePreparationParts) {}

  /** The claim with what was added to its log; after an abort, as far as it got. Rejects with TerminalError where the run cannot have it. */
  async preparedIn(claim: ClaimedRun, signal: AbortSignal): Promise<ClaimedRun> {
    const { environment } = claim.run.settings;
    if (!environment || signal.aborted || hasFact(claim, 'workspace.prepared')) return claim;
    const begun = hasFact(claim, 'workspace.preparing') ? claim : await this.record(claim, toPreparing(environment));
    const data = await this.prepare(begun, environment, signal);
    return data ? this.record(begun, { type: 'workspace.prepared', iteration: claim.run.iteration, data }) : begun;
  }

  /** Undefined after an abort. */
  private async prepare(
    claim: ClaimedRun,
    environment: Environment,
    signal: AbortSignal,
  ): Promise<WorkspacePrepared | undefined> {
    const until = performance.now() + longestDecisionMs;
    for (let attempt = 1; ; attempt += 1) {
      if (signal.aborted) return undefined;
      try {
        const executorId = await findExecutor(this.parts.placement, claim);
        return await this.parts.prepare(claim, environment, { executorId, signal });
      } catch (error) {
        if (signal.reason !== undefined) return undefined; // it has one once it is aborted
        if (!(error instanceof TunnelError)) throw error;
        const isAwaited = performance.now() < until && (await this.parts.awaitsSecret(claim.runId));
        if (isAwaited) attempt = 0;
        else if (!mayTryAgain(error, attempt))
          throw new TerminalError('environment_failed', error.message, { cause: error });
      }
      await pauseAfter(attempt, this.parts.pauseMs, signal);
    }
  }

  private record(claim: ClaimedRun, fact: NewFact): Promise<ClaimedRun> {
    return withRecorded(this.parts, claim, { ...fact, iteration: claim.run.iteration });
  }
}

/** Of the run itself: a fork has another workspace than its origin. */
function hasFact({ log }: ClaimedRun, type: NewFact['type']): boolean {
  const fork = log.findLastIndex((fact) => fact.type === 'run.forked');
  return log.slice(fork + 1).some((fact) => fact.type === type);
}

const toPreparing = ({ repository, files = [], egress }: Environment): NewFact => ({
  type: 'workspace.preparing',
  iteration: 0,
  data: {
    repository: repository ? { path: repositoryPath(repository), ref: repository.ref ?? null } : null,
    files: files.map(({ path }) => path),
    egress: egress ?? null,
  },
});
