import type { ClientProxy } from '@nestjs/microservices';
import type { ThreadId } from '@rondo/contract';
import { TerminalError } from '@rondo/domain';
import { type OpenExecutors, signals } from '@rondo/messaging';
import type { Sandboxes } from '@rondo/persistence';
import { firstValueFrom, timeout } from 'rxjs';
import { z } from 'zod';

const answerWithinMs = 2_000;
/** Each request goes to one executor, drawn by lot: one that refuses speaks for itself, so many in a row for all. */
const refusalsThatCount = 5;

/** What an executor says that has no sandbox to offer, as Nest carries it. */
const refusal = z.object({ status: z.literal('error'), message: z.string() });

/**
 * Where a new thread's sandbox is to live: with one of the executors that say that they take threads in, then for good. The
 * executors are asked where none has said so, and then say why.
 */
export class SandboxPlacement {
  constructor(
    private readonly sandboxes: Pick<Sandboxes, 'keep'>,
    private readonly open: Pick<OpenExecutors, 'draw'>,
    private readonly executors: Pick<ClientProxy, 'send'>,
  ) {}

  /** Rejects with a TerminalError where executors say again and again that they have no sandbox, otherwise while none answers. */
  async of(threadId: ThreadId): Promise<string> {
    return this.sandboxes.keep(threadId, this.open.draw() ?? (await this.ask(threadId)));
  }

  private async ask(threadId: ThreadId, refusals = 0): Promise<string> {
    const asked = this.executors.send<unknown>(signals.place.pattern, { thread_id: threadId });
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
