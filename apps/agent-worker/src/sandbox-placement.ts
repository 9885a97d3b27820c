import type { ThreadId } from '@rondo/domain';
import { signals } from '@rondo/messaging';
import type { Sandboxes } from '@rondo/persistence';
import type { ClientProxy } from '@nestjs/microservices';
import { firstValueFrom, timeout } from 'rxjs';

const answerWithinMs = 2_000;

/** Where a thread's sandbox lives: asked of the executors once, then kept for good. */
export class SandboxPlacement {
  constructor(
    private readonly sandboxes: Sandboxes,
    private readonly executors: ClientProxy,
  ) {}

  /** Rejects while no executor answers. */
  of(threadId: ThreadId): Promise<string> {
    return this.sandboxes.placeOf(threadId, async () => {
      const asked = this.executors.send<unknown>(signals.place.pattern, { thread_id: threadId });
      return signals.place.answer.parse(await firstValueFrom(asked.pipe(timeout(answerWithinMs)))).executor_id;
    });
  }
}
