import type { ClientProxy } from '@nestjs/microservices';
import { TerminalError, type ThreadId } from '@rondo/domain';
import { signals } from '@rondo/messaging';
import type { Sandboxes } from '@rondo/persistence';
import { firstValueFrom, timeout } from 'rxjs';
import { z } from 'zod';

const answerWithinMs = 2_000;

/** What an executor says that has no sandbox to offer, as Nest carries it. */
const refusal = z.object({ status: z.literal('error'), message: z.string() });

/** Where a new thread's sandbox is to live: asked of the executors once, then kept for good. */
export class SandboxPlacement {
  constructor(
    private readonly sandboxes: Sandboxes,
    private readonly executors: ClientProxy,
  ) {}

  /** Rejects with a TerminalError where an executor says that it has no sandbox, otherwise while none answers. */
  async of(threadId: ThreadId): Promise<string> {
    return this.sandboxes.keep(threadId, await this.ask(threadId));
  }

  private async ask(threadId: ThreadId): Promise<string> {
    const asked = this.executors.send<unknown>(signals.place.pattern, { thread_id: threadId });
    try {
      return signals.place.answer.parse(await firstValueFrom(asked.pipe(timeout(answerWithinMs)))).executor_id;
    } catch (error) {
      const refused = refusal.safeParse(error);
      if (refused.success) throw new TerminalError('sandbox_unavailable', refused.data.message, { cause: error });
      throw error;
    }
  }
}
