import { BullModule } from '@nestjs/bullmq';
import { type DynamicModule, Module, type OnApplicationShutdown } from '@nestjs/common';
import { BoundedCloseWorker, workerConnection } from '@rondo/messaging';
import { HealthModule, MetricsModule } from '@rondo/platform';
import { ActiveRuns } from '@rondo/run-holder';
import { CompactionProcessor } from './compaction.processor';
import type { Summarizer } from './compose';
import { StopSignalController } from './stop-signal.controller';

BullModule.workerClass = BoundedCloseWorker;

/** Closes the connections last, when no job is processed any more that could use them. */
class Lifecycle implements OnApplicationShutdown {
  constructor(private readonly summarizer: Summarizer) {}

  async onApplicationShutdown(): Promise<void> {
    await this.summarizer.close();
  }
}

/** The composed values that Nest uses: the job processor, the stop signal, health and metrics. */
@Module({})
export class SummarizerModule {
  static with(summarizer: Summarizer): DynamicModule {
    const { config, nats, database, queues: runQueues, queueProbe } = summarizer;
    return {
      module: SummarizerModule,
      imports: [
        BullModule.forRoot({ connection: workerConnection(config.REDIS_URL) }),
        BullModule.registerQueue(), // without a queue: it makes Nest look for processors
        MetricsModule.register(config),
        HealthModule.register({
          postgres: () => database.ping(),
          redis: () => runQueues.ping(),
          nats: () => nats.ping(),
          queue: () => queueProbe.check(),
        }),
      ],
      controllers: [StopSignalController],
      providers: [
        { provide: CompactionProcessor, useValue: summarizer.processor },
        { provide: ActiveRuns, useValue: summarizer.activeRuns },
        { provide: Lifecycle, useValue: new Lifecycle(summarizer) },
      ],
    };
  }
}
