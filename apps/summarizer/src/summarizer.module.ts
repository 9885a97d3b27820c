import { BullModule } from '@nestjs/bullmq';
import { type DynamicModule, Module } from '@nestjs/common';
import { queueOptions, queues, workerConnection } from '@rondo/messaging';
import { HealthModule, MetricsModule } from '@rondo/platform';
import { CompactionProcessor } from './compaction.processor';
import { Resources } from './resources';

@Module({})
export class SummarizerModule {
  static with(resources: Resources): DynamicModule {
    const { config, nats, database } = resources;
    const work: DynamicModule = {
      module: class Work {},
      imports: [
        BullModule.forRoot({ ...queueOptions, connection: workerConnection(config.REDIS_URL) }),
        BullModule.registerQueue({ name: queues.compactions.name }),
      ],
      providers: [CompactionProcessor],
      exports: [CompactionProcessor],
    };
    return {
      module: SummarizerModule,
      imports: [
        work,
        MetricsModule.register({ token: config.METRICS_TOKEN }),
        HealthModule.registerAsync({
          imports: [work],
          inject: [CompactionProcessor],
          useFactory: (compactions: CompactionProcessor) => ({
            postgres: () => database.ping(),
            redis: () => compactions.ping(),
            nats: () => nats.ping(),
          }),
        }),
      ],
      providers: [{ provide: Resources, useValue: resources }],
    };
  }
}
