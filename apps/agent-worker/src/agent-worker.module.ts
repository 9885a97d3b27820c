import { BullModule } from '@nestjs/bullmq';
import { Module } from '@nestjs/common';
import type { ClientProxy } from '@nestjs/microservices';
import { type Delta, eventId } from '@rondo/domain';
import type { Models } from '@rondo/llm';
import { NatsLink, NatsRunFeed, NatsTools, RunQueue, queues, workerConnection } from '@rondo/messaging';
import { type Database, Outbox, PrismaRunStore, Sandboxes, isDatabaseUnavailable } from '@rondo/persistence';
import { HealthModule, type Logger, MetricsModule, newUlid } from '@rondo/platform';
import { AgentRunner } from './agent-runner';
import { config } from './config';
import { ConnectionsModule, DATABASE, EXECUTORS, LOG, MODELS } from './connections.module';
import { FairShare } from './fair-share';
import { Heartbeat } from './heartbeat';
import { HeldRuns } from './held-runs';
import { OutboxRelay } from './outbox-relay';
import { Rounds } from './rounds';
import { RunProcessor } from './run.processor';
import { SandboxPlacement } from './sandbox-placement';
import { Setbacks } from './setbacks';
import { SignalsController } from './signals.controller';
import { workerClerk } from './worker-clerk';

const fairShareEveryMs = 500;
const minimumHoldMs = 1_000;

/** The wiring of one worker. Plain classes are built by hand here, so they stay plain. */
@Module({
  imports: [
    ConnectionsModule,
    BullModule.forRoot({ connection: workerConnection(config.REDIS_URL) }),
    BullModule.registerQueue({ name: queues.runs.name }),
    MetricsModule.register({ token: config.METRICS_TOKEN }),
    HealthModule.registerAsync({
      inject: [DATABASE, NatsLink, RunQueue],
      useFactory: (database: Database, nats: NatsLink, queue: RunQueue) => ({
        postgres: () => database.ping(),
        nats: () => nats.ping(),
        redis: () => queue.ping(),
      }),
    }),
  ],
  controllers: [SignalsController],
  providers: [
    RunProcessor,
    HeldRuns,
    {
      provide: NatsRunFeed,
      inject: [NatsLink],
      useFactory: (nats: NatsLink) => new NatsRunFeed(nats),
    },
    {
      provide: OutboxRelay,
      inject: [DATABASE, RunQueue, LOG],
      useFactory: (database: Database, queue: RunQueue, log: Logger) =>
        new OutboxRelay(new Outbox(database), queue, (error) => log.warn({ error }, 'outbox not published')),
    },
    {
      provide: PrismaRunStore,
      inject: [DATABASE, NatsRunFeed, OutboxRelay],
      useFactory: (database: Database, feed: NatsRunFeed, relay: OutboxRelay) =>
        new PrismaRunStore({
          database,
          mint: newUlid,
          leaseMs: config.LEASE_MS,
          onPromoted: (facts) => {
            feed.publish(facts);
            void relay.publish();
          },
        }),
    },
    {
      provide: SandboxPlacement,
      inject: [DATABASE, EXECUTORS],
      useFactory: (database: Database, executors: ClientProxy) =>
        new SandboxPlacement(new Sandboxes(database, newUlid), executors),
    },
    {
      provide: AgentRunner,
      inject: [PrismaRunStore, NatsRunFeed, NatsLink, SandboxPlacement, HeldRuns, OutboxRelay, MODELS, LOG],
      useFactory: (
        store: PrismaRunStore,
        feed: NatsRunFeed,
        nats: NatsLink,
        placement: SandboxPlacement,
        held: HeldRuns,
        relay: OutboxRelay,
        model: Models,
        log: Logger,
      ) =>
        new AgentRunner({
          owner: config.WORKER_ID,
          store,
          feed,
          model,
          clerk: workerClerk,
          held,
          setbacks: new Setbacks((about) => log.error(about, 'run activation broke')),
          passes: isDatabaseUnavailable,
          handedOver: () => relay.publish(),
          journal: {
            frameMs: config.DELTA_FRAME_MS,
            newEventId: () => eventId.parse(`evt_${newUlid()}`),
            now: () => new Date().toISOString(),
          },
          toolsFor: ({ runId, threadId, run }, journal) =>
            new NatsTools({
              nats,
              runId,
              threadId,
              placement: (thread) => placement.of(thread),
              onOutput: (delta: Delta) => journal.say(delta),
              toolTimeoutMs: run.settings.limits.tool_timeout_s * 1000,
            }),
        }),
    },
    {
      provide: Rounds,
      inject: [HeldRuns, PrismaRunStore, OutboxRelay, RunQueue, LOG],
      useFactory: (held: HeldRuns, leases: PrismaRunStore, relay: OutboxRelay, queue: RunQueue, log: Logger) =>
        new Rounds({
          heartbeat: new Heartbeat(config.WORKER_ID, leases, held),
          leases,
          relay,
          fairShare: new FairShare(held, queue, { concurrency: config.RUN_CONCURRENCY, minimumHoldMs }),
          everyMs: { heartbeat: config.HEARTBEAT_MS, reap: config.REAP_MS, fairShare: fairShareEveryMs },
          failed: (round, error) => log.warn({ round, error }, 'worker round failed'),
        }),
    },
  ],
})
export class AgentWorkerModule {}
