import type { ClientProxy } from '@nestjs/microservices';
import type { CallId, ThreadId } from '@rondo/contract';
import { type ClaimedRun, TerminalError } from '@rondo/domain';
import { type OpenExecutors, signals } from '@rondo/messaging';
import type { Sandboxes } from '@rondo/persistence';
import { firstValueFrom, timeout } from 'rxjs';
import { z } from 'zod';
import type { WorkspaceMover } from './workspace-mover';

const answerWithinMs = 2_000;
/** Each request goes to one executor, drawn by lot: one that refuses speaks for itself, so many in a row for all. */
const refusalsThatCount = 5;

/** What an executor says that has no sandbox to offer, as Nest carries it. */
const refusal = z.object({ status: z.literal('error'), message: z.string() });

interface PlacementParts {
  readonly sandboxes: Pick<Sandboxes, 'keep'>;
  readonly openExecutors: Pick<OpenExecutors, 'draw'>;
  readonly executors: Pick<ClientProxy, 'send'>;
  readonly mover: Pick<WorkspaceMover, 'isLost' | 'readHost'>;
}

/**
 * The executor of a thread's sandbox: for a new thread one that announces that it accepts threads, then always the same, until
 * it is lost. Where none has announced that, the executors are asked, and say why.
 */
export class SandboxPlacement {
  constructor(private readonly parts: PlacementParts) {}

  isLost(executorId: string): boolean {
    return this.parts.mover.isLost(executorId);
  }

  /** That of a run, as it was when the run was claimed, unless that one is lost. */
  ofRun({ executorId, workspaceId }: Pick<ClaimedRun, 'executorId' | 'workspaceId'>): Promise<string> {
    if (executorId === null) return this.of(workspaceId);
    return this.isLost(executorId) ? this.readHost(workspaceId, []) : Promise.resolve(executorId);
  }

  /** As Postgres has it now. A workspace of a lost executor is moved; `unsent` are calls that were certainly not sent yet. */
  async readHost(threadId: ThreadId, unsent: readonly CallId[]): Promise<string> {
    return (await this.parts.mover.readHost(threadId, unsent)) ?? this.of(threadId);
  }

  /** Rejects with a TerminalError where executors say again and again that they have no sandbox, otherwise while none answers. */
  async of(threadId: ThreadId): Promise<string> {
    const { sandboxes, openExecutors } = this.parts;
    return sandboxes.keep(threadId, openExecutors.draw() ?? (await this.ask(threadId)));
  }

  private async ask(threadId: ThreadId, refusals = 0): Promise<string> {
    const asked = this.parts.executors.send<unknown>(signals.place.pattern, { thread_id: threadId });
    try {
      return signals.place.answer.parse(await firstValueFrom(asked.pipe(timeout(answerWithinMs)))).executor_id;
    } catch (error) {
      const refused = refusal.safeParse(error);
      if (!refused.success) throw error;
      if (refusals + 1 < refusalsThatCount) return this.ask(threadId, refusals + 1);
      throw new TerminalError('sandbox_unavailable', refused.data.message, { cause: error });
    }
  }
}
