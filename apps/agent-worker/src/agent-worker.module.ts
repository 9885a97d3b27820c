import { BullModule } from '@nestjs/bullmq';
import { Module } from '@nestjs/common';
import { NatsLink, RunQueues, DelayedPollWorker, workerConnection } from '@rondo/messaging';
import type { Database } from '@rondo/persistence';
import { HealthModule, MetricsModule } from '@rondo/platform';
import { config } from './config';
import { ConnectionsModule, DATABASE } from './connections.module';
import { DueRunPoller } from './activation/due-run-poller';
import { PeriodicTasks } from './maintenance/periodic-tasks';
import { MaintenanceModule } from './maintenance/maintenance.module';
import { RunsModule } from './runs.module';

BullModule.workerClass = DelayedPollWorker;

/** One worker: what it is connected to, how it runs runs, and how it is doing. */
@Module({
  imports: [
    ConnectionsModule,
    BullModule.forRoot({ connection: workerConnection(config.REDIS_URL) }),
    RunsModule,
    MaintenanceModule,
    MetricsModule.register(config),
    HealthModule.registerAsync({
      imports: [RunsModule, MaintenanceModule],
      inject: [DueRunPoller, PeriodicTasks, DATABASE, NatsLink, RunQueues],
      useFactory: (lookout: DueRunPoller, _: PeriodicTasks, database: Database, nats: NatsLink, queues: RunQueues) => ({
        postgres: () => database.ping(),
        nats: () => nats.ping(),
        redis: () => queues.ping(),
        queue: () => lookout.hearsQueue(),
      }),
      liveness: (lookout: DueRunPoller, rounds: PeriodicTasks) => ({
        rounds: () => rounds.comeRound(config.LIVENESS_MS),
        lookout: () => lookout.hasLooked(config.LIVENESS_MS),
      }),
    }),
  ],
})
export class AgentWorkerModule {}
