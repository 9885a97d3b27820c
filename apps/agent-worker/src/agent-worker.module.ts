import { BullModule } from '@nestjs/bullmq';
import { Module } from '@nestjs/common';
import { NatsLink, RunQueues, UnhurriedWorker, workerConnection } from '@rondo/messaging';
import type { Database } from '@rondo/persistence';
import { HealthModule, MetricsModule } from '@rondo/platform';
import { config } from './config';
import { ConnectionsModule, DATABASE } from './connections.module';
import { Lookout } from './lookout';
import { Rounds } from './rounds';
import { RoundsModule } from './rounds.module';
import { RunsModule } from './runs.module';

BullModule.workerClass = UnhurriedWorker;

/** One worker: what it is connected to, how it runs runs, and how it is doing. */
@Module({
  imports: [
    ConnectionsModule,
    BullModule.forRoot({ connection: workerConnection(config.REDIS_URL) }),
    RunsModule,
    RoundsModule,
    MetricsModule.register(config),
    HealthModule.registerAsync({
      imports: [RunsModule, RoundsModule],
      inject: [Lookout, Rounds, DATABASE, NatsLink, RunQueues],
      useFactory: (lookout: Lookout, _: Rounds, database: Database, nats: NatsLink, queues: RunQueues) => ({
        postgres: () => database.ping(),
        nats: () => nats.ping(),
        redis: () => queues.ping(),
        queue: () => lookout.hearsQueue(),
      }),
      lifeSigns: (lookout: Lookout, rounds: Rounds) => ({
        rounds: () => rounds.comeRound(config.LIVENESS_MS),
        lookout: () => lookout.hasLooked(config.LIVENESS_MS),
      }),
    }),
  ],
})
export class AgentWorkerModule {}
