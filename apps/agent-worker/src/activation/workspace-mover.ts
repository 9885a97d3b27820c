import type { CallId, ThreadId } from '@rondo/contract';
import { TransientError } from '@rondo/domain';
import type { Adoption, AdoptionState, OpenExecutors } from '@rondo/messaging';
import type { WorkspaceMove, WorkspaceMoves } from '@rondo/persistence';
import type { Logger } from '@rondo/platform';
import { Counter, type Registry } from 'prom-client';

interface MoverParts {
  readonly moves: Pick<WorkspaceMoves, 'toPlace' | 'begin' | 'complete' | 'cancel'>;
  readonly executors: Pick<OpenExecutors, 'silentMs' | 'drawAdopting'>;
  readonly adopt: (executorId: string, adoption: Adoption) => Promise<AdoptionState | undefined>;
  /** How long an executor is silent before its workspaces are moved. Zero: they never are. */
  readonly lostAfterMs: number;
  readonly log: Pick<Logger, 'warn'>;
}

/** One that restores a workspace and is silent for so long is replaced by another. */
const targetLostAfterMs = 10_000;

/**
 * Moves the workspaces of executors that are lost, one when a call needs it. Every step may be repeated, by any worker. An
 * executor that comes back before the last step keeps its workspaces: it announces itself before it runs calls, and is heard here
 * before another one answers, because NATS keeps the order.
 */
export class WorkspaceMover {
  private readonly moved = new Counter({
    name: 'rondo_workspaces_moved_total',
    help: 'Workspaces that this worker has moved from an executor that was lost',
    registers: [],
  });

  constructor(private readonly parts: MoverParts) {}

  registerOn(registry: Registry): void {
    registry.registerMetric(this.moved);
  }

  isLost(executorId: string): boolean {
    const { lostAfterMs, executors } = this.parts;
    return lostAfterMs > 0 && executors.silentMs(executorId) >= lostAfterMs;
  }

  /** An executor that can delete the copy of a workspace of this one: itself, unless it is lost. */
  standInFor(executorId: string): string {
    return (this.isLost(executorId) && this.parts.executors.drawAdopting()) || executorId;
  }

  /**
   * The executor that hosts the workspace, after it was moved from a lost one. Undefined where none has it yet. Rejects with a
   * TransientError while it is being moved, and where no executor can restore it.
   */
  async readHost(threadId: ThreadId, unsent: readonly CallId[] = []): Promise<string | undefined> {
    const place = await this.parts.moves.toPlace(threadId);
    if (!place || !this.isLost(place.executorId)) return place?.executorId;
    const { executorId: from, movingTo } = place;
    const to = movingTo !== null && this.isThere(movingTo) ? movingTo : this.parts.executors.drawAdopting();
    if (to === undefined) throw new TransientError(`executor ${from} is lost, and no other one restores workspaces`);
    return this.move({ threadId, from, to, unsent });
  }

  private isThere(executorId: string): boolean {
    return this.parts.executors.silentMs(executorId) < targetLostAfterMs;
  }

  private async move(move: WorkspaceMove): Promise<string> {
    const { moves, log } = this.parts;
    const { threadId, from, to } = move;
    if (!(await moves.begin(move))) throw new TransientError(`calls at the lost executor ${from} are not settled yet`);
    await this.restore(move);
    if (!this.isLost(from)) {
      await moves.cancel(move);
      return from;
    }
    if (!(await moves.complete(move))) throw new TransientError('the workspace was moved otherwise');
    this.moved.inc();
    log.warn({ threadId, from, to }, 'workspace of a lost executor moved');
    return to;
  }

  private async restore(move: WorkspaceMove): Promise<void> {
    const { threadId, from, to } = move;
    const state = await this.parts.adopt(to, { threadId, from });
    if (state === 'adopted') return;
    if (state === 'failed') await this.parts.moves.cancel(move); // the next attempt may choose another executor
    throw new TransientError(
      `executor ${to} ${state === 'failed' ? 'could not restore' : 'is restoring'} the workspace`,
    );
  }
}
