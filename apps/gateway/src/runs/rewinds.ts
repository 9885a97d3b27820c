import { fileChanges } from '@rondo/contract';
import type { KeptFiles, MomentAddress, Runs, WantedMoment } from '@rondo/persistence';
import { ApiError } from '../problems/api-error';
import type { SandboxService } from '../sandboxes/sandbox-service';

interface RewindsParts {
  readonly runs: Pick<Runs, 'readMoment' | 'effectsAfter'>;
  readonly sandboxes: Pick<SandboxService, 'findMoment' | 'previewRewind'>;
}

/** Where the files of a workspace can be brought back to, and what that does. */
export class Rewinds {
  constructor(private readonly parts: RewindsParts) {}

  /** Rejects with `files_not_kept`, which says why. */
  async find(address: MomentAddress): Promise<KeptFiles> {
    return this.findKept(address, await this.parts.runs.readMoment(address));
  }

  /** Compares with the files as they are now. */
  async preview(address: MomentAddress, client: AbortSignal) {
    const wanted = await this.parts.runs.readMoment(address);
    const { executorId, thread_id: threadId, moment } = await this.findKept(address, wanted);
    const place = { accountId: address.accountId, executorId, threadId };
    const files = fileChanges.parse(await this.parts.sandboxes.previewRewind(place, moment, client));
    return { run_id: wanted.runId, seq: wanted.seq, files, ...(await this.parts.runs.effectsAfter(wanted)) };
  }

  private async findKept({ accountId }: MomentAddress, wanted: WantedMoment): Promise<KeptFiles> {
    const { runId, workspaceId: threadId, executorId, isShared, keys } = wanted;
    if (isShared) throw notKept('The threads of its project share the workspace, which would change for all of them.');
    if (executorId === null) throw notKept('The thread has no workspace.');
    const { moment, refused } = await this.parts.sandboxes.findMoment({ accountId, executorId, threadId }, keys);
    if (moment === null) throw notKept(refused ?? 'Nothing was kept of the files at that point.');
    return { thread_id: threadId, run_id: runId, moment, executorId };
  }
}

const notKept = (why: string) => new ApiError('files_not_kept', `The files cannot be as they were then. ${why}`);
