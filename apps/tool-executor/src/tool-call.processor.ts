import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { ToolCallConsumer } from '@rondo/messaging';
import { slotsOf } from './config';
import { Resources } from './resources';
import { ExecutorLeaving, ToolRunner } from './run-tool';
import type { SlotLoad } from './slot-metrics';
import { ToolMetrics } from './tool-metrics';

/** Takes this executor's calls off the queue. What a call does is ToolRunner's business; here it is only a message. */
@Injectable()
export class ToolCallProcessor implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly consumer: ToolCallConsumer;

  constructor(
    private readonly resources: Resources,
    runner: ToolRunner,
    metrics: ToolMetrics,
  ) {
    const { nats, executor, config } = resources;
    this.consumer = new ToolCallConsumer({
      nats,
      executorId: executor.id,
      slots: slotsOf(config),
      handle: (call, { signal, output }) =>
        metrics.measure(call.name, () => runner.run(call, { signal, output: (text) => output(text, 'stdout') })),
    });
  }

  get load(): SlotLoad {
    return this.consumer.load;
  }

  onApplicationBootstrap(): void {
    this.consumer.start();
  }

  /** A call that was killed is answered; one that was left behind would be unknown to its run. */
  async onModuleDestroy(): Promise<void> {
    const graceMs = this.resources.config.TOOL_DRAIN_S * 1_000;
    await this.consumer.close({ graceMs, reason: new ExecutorLeaving() });
  }
}
