import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import type { ToolCallConsumer } from '@rondo/messaging';
import { ExecutorClosing } from './tool-handler';

/** Consumes this executor's tool calls from its queue for as long as the application runs. */
export class ToolCallProcessor implements OnApplicationBootstrap, OnModuleDestroy {
  constructor(
    private readonly consumer: ToolCallConsumer,
    private readonly drainMs: number,
  ) {}

  onApplicationBootstrap(): void {
    this.consumer.start();
  }

  /** Running calls get the drain time, then they are killed and answered: a call without an answer has an unknown outcome. */
  async onModuleDestroy(): Promise<void> {
    await this.consumer.close({ graceMs: this.drainMs, reason: new ExecutorClosing() });
  }
}
