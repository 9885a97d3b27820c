import { Module } from '@nestjs/common';
import { NatsLink, NatsRunFeed, RunQueues, requestRemoval } from '@rondo/messaging';
import {
  BlobSweep,
  type Database,
  IdempotencyKeys,
  PostgresRunStore,
  Purge,
  Retention,
  Sandboxes,
  reapDeadEveryMs,
} from '@rondo/persistence';
import { type Logger, newUlid } from '@rondo/platform';
import { config } from '../config';
import { DATABASE, LOG } from '../connections.module';
import { FairShare } from '../activation/fair-share';
import { Heartbeat } from '../activation/heartbeat';
import { ActiveRuns } from '../activation/active-runs';
import { DueRunPoller } from '../activation/due-run-poller';
import { OutboxRelay } from '../delivery/outbox-relay';
import { PeriodicTasks } from './periodic-tasks';
import { RunsModule } from '../runs.module';
import { WorkspaceRemoval } from './workspace-removal';

const fairShareEveryMs = 500;
const lookoutEveryMs = 1_000;
const minimumHoldMs = 1_000;

/** What is done again and again, for the runs of this worker and for all. Plain classes are built by hand here. */
@Module({
  imports: [RunsModule],
  providers: [
    {
      provide: Retention,
      inject: [DATABASE],
      useFactory: (database: Database) => new Retention(database, config.RETENTION_DAYS),
    },
    {
      provide: IdempotencyKeys,
      inject: [DATABASE],
      useFactory: (database: Database) => new IdempotencyKeys(database),
    },
    {
      provide: Purge,
      inject: [DATABASE, NatsRunFeed],
      useFactory: (database: Database, feed: NatsRunFeed) =>
        new Purge({ database, mint: newUlid, onStopped: (facts) => feed.publish(facts) }),
    },
    {
      provide: BlobSweep,
      inject: [DATABASE],
      useFactory: (database: Database) => new BlobSweep(database),
    },
    {
      provide: WorkspaceRemoval,
      inject: [Sandboxes, NatsLink],
      useFactory: (sandboxes: Sandboxes, nats: NatsLink) =>
        new WorkspaceRemoval(sandboxes, (executorId, threadId) => requestRemoval(nats, executorId, threadId)),
    },
    {
      provide: PeriodicTasks,
      inject: [
        ActiveRuns,
        PostgresRunStore,
        OutboxRelay,
        RunQueues,
        DueRunPoller,
        Retention,
        IdempotencyKeys,
        WorkspaceRemoval,
        Purge,
        BlobSweep,
        LOG,
      ],
      useFactory: (
        held: ActiveRuns,
        store: PostgresRunStore,
        relay: OutboxRelay,
        runQueues: RunQueues,
        lookout: DueRunPoller,
        retention: Retention,
        idempotencyKeys: IdempotencyKeys,
        workspaces: WorkspaceRemoval,
        purge: Purge,
        blobs: BlobSweep,
        log: Logger,
      ) => {
        const heartbeat = new Heartbeat(config.WORKER_ID, store, held);
        const fairShare = new FairShare(held, runQueues.runs, { concurrency: config.RUN_CONCURRENCY, minimumHoldMs });
        return new PeriodicTasks(
          {
            heartbeat: { everyMs: config.HEARTBEAT_MS, work: () => heartbeat.beat() },
            reap: { everyMs: config.REAP_MS, work: () => store.reap().finally(() => relay.publish()) },
            rollCall: {
              everyMs: reapDeadEveryMs,
              work: async () => (await store.reapDead()) > 0 && relay.publish(),
            },
            fairShare: { everyMs: fairShareEveryMs, work: () => fairShare.enforce() },
            lookout: { everyMs: lookoutEveryMs, work: () => lookout.look() },
            retention: { everyMs: config.RETENTION_EVERY_MS, work: () => retention.trim() },
            idempotencyKeys: { everyMs: config.RETENTION_EVERY_MS, work: () => idempotencyKeys.prune() },
            purge: { everyMs: config.RETENTION_EVERY_MS, work: () => purge.some() },
            blobs: { everyMs: config.RETENTION_EVERY_MS, work: () => blobs.sweep() },
            workspaces: { everyMs: config.RETENTION_EVERY_MS, work: () => workspaces.remove() },
          },
          (round, error) => log.warn({ round, error }, 'worker round failed'),
        );
      },
    },
  ],
  exports: [PeriodicTasks],
})
export class MaintenanceModule {}
