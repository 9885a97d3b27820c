import { setMaxListeners } from 'node:events';
import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { answerRemovals } from '@rondo/messaging';
import { KeyedMutex } from './keyed-mutex';
import { Resources } from './resources';
import { ExecutorLeaving } from './run-tool';

/** Deletes what deleted threads have left here: one after the other, since nobody waits for that, and the disk is everybody's. */
@Injectable()
export class RemoveWorkspaceResponder implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly lanes = new KeyedMutex();
  private readonly leaving = new AbortController();
  private stop = (): void => undefined;

  constructor(private readonly resources: Resources) {
    setMaxListeners(0, this.leaving.signal); // many may wait for their turn
  }

  onApplicationBootstrap(): void {
    const { nats, executor, sandboxes } = this.resources;
    this.stop = answerRemovals(nats, executor.id, (thread) =>
      this.lanes.inTurn('removal', this.leaving.signal, () => sandboxes.remove(thread)),
    );
  }

  /** Who has asked and was not answered asks the next process. */
  onModuleDestroy(): void {
    this.stop();
    this.leaving.abort(new ExecutorLeaving());
  }
}
