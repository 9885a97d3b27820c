import { type NewFact, type NewId, type RecordedFact, messageId } from '@rondo/contract';
import {
  type ClaimedRun,
  type FileProblem,
  type RunStore,
  TerminalError,
  bringsFiles,
  writeProblemsNote,
} from '@rondo/domain';
import { TunnelError } from '@rondo/messaging';
import type { FileDeliveries, FileToDeliver } from '@rondo/persistence';
import {
  type ExecutorFinder,
  findExecutor,
  mayTryAgain,
  pauseAfter,
  withRecorded,
} from '../activation/preparation-steps';
import type { WorkspaceUpload } from './workspace-upload';

export interface RunFileDeliveryParts extends ExecutorFinder {
  readonly deliveries: Pick<FileDeliveries, 'of' | 'settle'>;
  readonly workspaces: Pick<WorkspaceUpload, 'write'>;
  readonly append: RunStore['append'];
  readonly publish: (facts: readonly RecordedFact[]) => void;
  readonly newId: NewId;
  readonly pauseMs: number;
}

/**
 * Brings uploaded files into the workspace before the model is asked, so that the message which lists them is true. What
 * could not be brought, or is at another path, is said in a message of its own. A worker that dies in between leaves whole
 * files, and the next one continues.
 */
export class RunFileDelivery {
  constructor(private readonly parts: RunFileDeliveryParts) {}

  /** The claim with what was added to its log. After an abort, files may be left for the next activation. */
  async deliverFor(claim: ClaimedRun, signal: AbortSignal): Promise<ClaimedRun> {
    const hasFiles = claim.log.some((fact) => fact.type === 'message.created' && bringsFiles(fact.data.message));
    if (!hasFiles) return claim;

    const { deliveries } = this.parts;
    const problems: FileProblem[] = [];
    for (const wanted of await deliveries.of(claim.runId)) {
      const problem = await this.deliver(claim, wanted, signal);
      if (signal.aborted) return claim;
      if (problem) problems.push(problem);
      else await deliveries.settle(claim.runId, wanted.path);
    }
    if (problems.length === 0) return claim;
    const told = await withRecorded(this.parts, claim, this.toMessage(claim, problems));
    for (const { path } of problems) await deliveries.settle(claim.runId, path);
    return told;
  }

  /** Undefined if the file is where the message says. */
  private async deliver(
    claim: ClaimedRun,
    { path, file }: FileToDeliver,
    signal: AbortSignal,
  ): Promise<FileProblem | undefined> {
    if (!file) return { path, problem: 'it was deleted before the run got it' };
    for (let attempt = 1; ; attempt += 1) {
      try {
        const to = {
          executorId: await findExecutor(this.parts, claim, signal),
          accountId: claim.accountId,
          threadId: claim.workspaceId,
        };
        const at = await this.parts.workspaces.write(to, path, file);
        return at === path ? undefined : { path, movedTo: at, problem: 'the workspace has another file of that name' };
      } catch (error) {
        if (!(error instanceof TunnelError) && !(error instanceof TerminalError)) throw error;
        if (!mayTryAgain(error, attempt) || signal.aborted) return { path, problem: error.message };
      }
      await pauseAfter(attempt, this.parts.pauseMs, signal);
    }
  }

  private toMessage({ threadId, runId, run }: ClaimedRun, problems: readonly FileProblem[]): NewFact {
    return {
      type: 'message.created',
      iteration: run.iteration,
      data: {
        message: {
          id: messageId.parse(`msg_${this.parts.newId()}`),
          thread_id: threadId,
          run_id: runId,
          iteration: null,
          type: 'user',
          is_llm_message: true,
          content: [{ type: 'text', text: writeProblemsNote(problems) }],
          metadata: { file_problems: problems },
        },
      },
    };
  }
}
