import { BullModule } from '@nestjs/bullmq';
import { type DynamicModule, Module } from '@nestjs/common';
import { idsAndClock } from '@rondo/domain';
import { QueueProbe, queueOptions, queues, workerConnection } from '@rondo/messaging';
import { HealthModule, MetricsModule, isoNow, newUlid } from '@rondo/platform';
import { CompactionProcessor } from './compaction.processor';
import { Compactor } from './compactor';
import { ActiveCompactions } from './active-compactions';
import { Resources } from './resources';
import { SignalsController } from './signals.controller';

@Module({})
export class SummarizerModule {
  static with(resources: Resources): DynamicModule {
    const { config, nats, database } = resources;
    const work = workModule(resources);
    return {
      module: SummarizerModule,
      imports: [
        work,
        MetricsModule.register(config),
        HealthModule.registerAsync({
          imports: [work],
          inject: [CompactionProcessor],
          useFactory: (compactions: CompactionProcessor) => ({
            postgres: () => database.ping(),
            redis: () => resources.queues.ping(),
            nats: () => nats.ping(),
            queue: () => hearsQueue(compactions),
          }),
        }),
      ],
      providers: [{ provide: Resources, useValue: resources }],
    };
  }
}

/** How compactions are made. */
function workModule(resources: Resources): DynamicModule {
  const { config, store, feed, models: model, tokens, budgetOf } = resources;
  return {
    module: class Work {},
    imports: [
      BullModule.forRoot({ ...queueOptions, connection: workerConnection(config.REDIS_URL) }),
      BullModule.registerQueue({ name: queues.compactions.name }),
    ],
    controllers: [SignalsController],
    providers: [
      CompactionProcessor,
      { provide: ActiveCompactions, useFactory: () => new ActiveCompactions(config.SUMMARIZER_ID, store) },
      {
        provide: Compactor,
        inject: [ActiveCompactions],
        useFactory: (held: ActiveCompactions) =>
          new Compactor({
            owner: config.SUMMARIZER_ID,
            store,
            feed,
            held,
            ports: { model, tokens, budgetOf, clerk: idsAndClock(newUlid, isoNow) },
            summaryModel: config.SUMMARY_MODEL,
            moved: () => resources.relay(),
          }),
      },
    ],
    exports: [CompactionProcessor, ActiveCompactions],
  };
}

/** Rejects while Redis does not answer over the connection by which jobs come (R11). */
async function hearsQueue(compactions: CompactionProcessor): Promise<void> {
  if (!(await new QueueProbe(() => compactions.worker).answers())) throw new Error('the queue is silent');
}
