import { BullModule } from '@nestjs/bullmq';
import { type DynamicModule, Module, type OnApplicationShutdown } from '@nestjs/common';
import { DelayedPollWorker, workerConnection } from '@rondo/messaging';
import { HealthModule, MetricsModule } from '@rondo/platform';
import { ActiveRuns } from '@rondo/run-holder';
import { RunProcessor } from './activation/run.processor';
import { signalsController } from './activation/signals.controller';
import type { AgentWorker } from './compose';

BullModule.workerClass = DelayedPollWorker;

/** Closes the connections last, when no run is active any more that could use them. */
class Lifecycle implements OnApplicationShutdown {
  constructor(private readonly worker: AgentWorker) {}

  async onApplicationShutdown(): Promise<void> {
    await this.worker.close();
  }
}

/** The composed values that Nest uses: the job processor, the signals, health and metrics. */
@Module({})
export class AgentWorkerModule {
  static with(worker: AgentWorker): DynamicModule {
    const { config, database, nats, queues, dueRuns, tasks, processor, activeRuns } = worker;
    return {
      module: AgentWorkerModule,
      imports: [
        BullModule.forRoot({ connection: workerConnection(config.REDIS_URL) }),
        BullModule.registerQueue(), // without a queue: it makes Nest look for processors
        MetricsModule.register(config),
        HealthModule.registerAsync({
          useFactory: () => ({
            postgres: () => database.ping(),
            nats: () => nats.ping(),
            redis: () => queues.ping(),
            queue: () => dueRuns.checkQueue(),
          }),
          liveness: () => ({
            tasks: () => tasks.assertOnTime(config.LIVENESS_MS),
            dueRuns: () => dueRuns.assertPolled(config.LIVENESS_MS),
          }),
        }),
      ],
      controllers: [signalsController(config.WORKER_ID)],
      providers: [
        { provide: RunProcessor, useValue: processor },
        { provide: ActiveRuns, useValue: activeRuns },
        { provide: Lifecycle, useValue: new Lifecycle(worker) },
      ],
    };
  }
}
