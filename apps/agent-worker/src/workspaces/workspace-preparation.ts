import {
  type Environment,
  type FileChanges,
  type NewFact,
  type RecordedFact,
  type RunId,
  type WorkspacePrepared,
  type WorkspaceRewinding,
  repositoryPath,
  toSandboxTerms,
} from '@rondo/contract';
import { type ClaimedRun, type RunStore, TerminalError } from '@rondo/domain';
import { TunnelError } from '@rondo/messaging';
import {
  type ExecutorFinder,
  findExecutor,
  longestDecisionMs,
  mayTryAgain,
  pauseAfter,
  withRecorded,
} from '../activation/preparation-steps';

export interface Asking {
  readonly executorId: string;
  readonly signal: AbortSignal;
}

export interface WorkspacePreparationParts extends ExecutorFinder {
  /** The same promises as of `prepare`. */
  readonly rewind: (claim: ClaimedRun, to: WorkspaceRewinding, how: Asking) => Promise<FileChanges>;
  /** Rejects with TunnelError. May be repeated, also while an earlier attempt is about to end. */
  readonly prepare: (claim: ClaimedRun, environment: Environment, how: Asking) => Promise<WorkspacePrepared>;
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
  async prepareFor(due: ClaimedRun, signal: AbortSignal): Promise<ClaimedRun> {
    const claim = await this.rewindFor(due, signal);
    const { environment } = claim.run.settings;
    if (!environment || signal.aborted || hasFact(claim, 'workspace.prepared')) return claim;
    const begun = hasFact(claim, 'workspace.preparing') ? claim : await this.record(claim, toPreparing(environment));
    const prepare = (how: Asking) => this.parts.prepare(begun, environment, how);
    const data = await this.ask(begun, { work: prepare, signal, failure: 'environment_failed' });
    return data ? this.record(begun, { type: 'workspace.prepared', iteration: claim.run.iteration, data }) : begun;
  }

  /** First: what the environment names is then there already, where it was there then. */
  private async rewindFor(claim: ClaimedRun, signal: AbortSignal): Promise<ClaimedRun> {
    const wanted = ownFacts(claim).find((fact) => fact.type === 'workspace.rewinding');
    if (!wanted || signal.aborted || hasFact(claim, 'workspace.rewound')) return claim;
    const startedAt = performance.now();
    const rewind = (how: Asking) => this.parts.rewind(claim, wanted.data, how);
    const changes = await this.ask(claim, { work: rewind, signal, failure: 'rewind_failed' });
    if (!changes) return claim;
    const data = { ...changes, duration_ms: Math.round(performance.now() - startedAt) };
    return this.record(claim, { type: 'workspace.rewound', iteration: claim.run.iteration, data });
  }

  /** Undefined after an abort. */
  private async ask<T>(
    claim: ClaimedRun,
    { work, signal, failure }: { work: (how: Asking) => Promise<T>; signal: AbortSignal; failure: string },
  ): Promise<T | undefined> {
    const until = performance.now() + longestDecisionMs;
    for (let attempt = 1; ; attempt += 1) {
      if (signal.aborted) return undefined;
      try {
        const executorId = await findExecutor(this.parts, claim, signal);
        return await work({ executorId, signal });
      } catch (error) {
        if (signal.reason !== undefined) return undefined; // it has one once it is aborted
        if (!(error instanceof TunnelError)) throw error;
        const isAwaited = performance.now() < until && (await this.parts.awaitsSecret(claim.runId));
        if (isAwaited) attempt = 0;
        else if (!mayTryAgain(error, attempt)) throw new TerminalError(failure, error.message, { cause: error });
      }
      await pauseAfter(attempt, this.parts.pauseMs, signal);
    }
  }

  private record(claim: ClaimedRun, fact: NewFact): Promise<ClaimedRun> {
    return withRecorded(this.parts, claim, { ...fact, iteration: claim.run.iteration });
  }
}

/** The facts of the run itself, since a fork has another workspace than its origin. */
function ownFacts({ log }: ClaimedRun): readonly RecordedFact[] {
  const fork = log.findLastIndex((fact) => fact.type === 'run.forked');
  return log.slice(fork + 1);
}

const hasFact = (claim: ClaimedRun, type: NewFact['type']): boolean =>
  ownFacts(claim).some((fact) => fact.type === type);

const toPreparing = (environment: Environment): NewFact => ({
  type: 'workspace.preparing',
  iteration: 0,
  data: { ...toPlaces(environment), egress: null, ...toSandboxTerms(environment) },
});

const toPlaces = ({ repository, files = [] }: Environment) => ({
  repository: repository ? { path: repositoryPath(repository), ref: repository.ref ?? null } : null,
  files: files.map(({ path }) => path),
});
