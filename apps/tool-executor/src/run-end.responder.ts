import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { callId } from '@rondo/contract';
import { answerRunEnds } from '@rondo/messaging';
import { Resources } from './resources';

/** Ends what stopped runs have left running here. A run that is stopped has no call at work any more. */
@Injectable()
export class RunEndResponder implements OnApplicationBootstrap, OnModuleDestroy {
  private stop = (): void => undefined;

  constructor(private readonly resources: Resources) {}

  onApplicationBootstrap(): void {
    const { nats, executor, sandboxes } = this.resources;
    this.stop = answerRunEnds(nats, executor.id, async ({ threadId, runId }) => {
      const ended = await sandboxes.endRun(threadId, runId);
      return ended.map(({ commandId, processes, verifiedDeadAt }) => ({
        tool_call_id: callId.parse(commandId),
        verified_dead_at: verifiedDeadAt,
        processes,
      }));
    });
  }

  onModuleDestroy(): void {
    this.stop();
  }
}
