import type { RunFeed } from '@rondo/domain';
import { type NatsLink, type RunQueues, requestRemoval } from '@rondo/messaging';
import {
  BlobSweep,
  type Database,
  FileSweep,
  IdempotencyKeys,
  type PostgresRunStore,
  Purge,
  type Reservations,
  Retention,
  SecretUses,
  type RunTrees,
  type Sandboxes,
  ToolSetSweep,
  expireWaits,
  reapDeadEveryMs,
} from '@rondo/persistence';
import { type Logger, newUlid } from '@rondo/platform';
import {
  type ActiveRuns,
  Heartbeat,
  type OutboxRelay,
  PeriodicTasks,
  type Rest,
  type TaskSchedule,
} from '@rondo/run-holder';
import type { DueRunPoller } from '../activation/due-run-poller';
import { FairShare } from '../activation/fair-share';
import type { WorkspaceMover } from '../activation/workspace-mover';
import type { Config } from '../config';
import { WorkspaceRemoval } from './deleted-thread-workspaces';

const fairShareEveryMs = 500;
const pollDueRunsEveryMs = 1_000;
const minActiveMs = 1_000;
const expireWaitsEveryMs = 5_000;
const childRunsEveryMs = 2_000;

interface MaintenanceParts {
  readonly config: Config;
  readonly log: Logger;
  readonly database: Database;
  readonly nats: NatsLink;
  readonly queues: RunQueues;
  readonly feed: Pick<RunFeed, 'publish'>;
  readonly store: PostgresRunStore;
  readonly sandboxes: Sandboxes;
  readonly mover: Pick<WorkspaceMover, 'standInFor'>;
  readonly trees: RunTrees;
  readonly reservations: Reservations;
  readonly relay: OutboxRelay;
  readonly activeRuns: ActiveRuns;
  readonly dueRuns: DueRunPoller;
  readonly rest: Rest;
}

/** The periodic tasks of a worker: for its own runs, and for those of the whole deployment. */
export function createMaintenanceTasks(parts: MaintenanceParts): PeriodicTasks {
  return new PeriodicTasks({ ...runTasks(parts), ...createCleanupTasks(parts) }, (task, error) =>
    parts.log.warn({ task, error }, 'periodic task failed'),
  );
}

function runTasks(parts: MaintenanceParts): Record<string, TaskSchedule> {
  const { config, database, queues, feed, store, trees, relay, activeRuns, dueRuns, rest } = parts;
  const heartbeat = new Heartbeat(config.WORKER_ID, store, activeRuns);
  const fairShare = new FairShare({ activeRuns, queue: queues.runs, concurrency: config.RUN_CONCURRENCY, minActiveMs });
  const reap = async () => {
    try {
      await store.reap();
    } finally {
      await relay.publish();
    }
  };
  const reapDead = async () => {
    const held = activeRuns.all().map(({ claim }) => claim);
    if ((await store.reapDead(config.WORKER_ID, held)) > 0) await relay.publish();
  };
  return {
    heartbeat: { everyMs: config.HEARTBEAT_MS, work: () => heartbeat.beat() },
    look: rest.task,
    reap: { everyMs: config.REAP_MS, work: rest.unlessResting(reap) },
    reapDead: {
      everyMs: reapDeadEveryMs,
      work: rest.unlessResting(reapDead),
    },
    ...(config.ACCOUNT_TIERS && {
      reservations: {
        everyMs: config.REAP_MS,
        work: rest.unlessResting(() => parts.reservations.releaseAbandoned()),
      },
    }),
    fairShare: { everyMs: fairShareEveryMs, work: () => fairShare.enforce() },
    dueRuns: { everyMs: pollDueRunsEveryMs, work: () => dueRuns.poll() },
    childRuns: {
      everyMs: childRunsEveryMs,
      work: rest.unlessResting(async () => {
        const facts = await trees.catchUp();
        feed.publish(facts);
        if (facts.length > 0) await relay.publish();
      }),
    },
    expireWaits: {
      everyMs: expireWaitsEveryMs,
      work: rest.unlessResting(async () => {
        const facts = await expireWaits(database, newUlid);
        feed.publish(facts);
        if (facts.length > 0) await relay.publish();
      }),
    },
  };
}

function createCleanupTasks({
  config,
  log,
  database,
  nats,
  feed,
  sandboxes,
  mover,
}: MaintenanceParts): Record<string, TaskSchedule> {
  const everyMs = config.RETENTION_EVERY_MS;
  const retention = new Retention(database, config.RETENTION_DAYS);
  const idempotencyKeys = new IdempotencyKeys(database);
  const secretUses = new SecretUses(database);
  const purge = new Purge({
    ...{ database, newId: newUlid },
    onStopped: (facts) => feed.publish(facts),
    onFailed: (failure) => log.warn(failure, 'deleted data could not be purged, others go first'),
  });
  const blobs = new BlobSweep(database);
  const files = new FileSweep(database);
  const toolSets = new ToolSetSweep(database, config.RETENTION_DAYS);
  const workspaces = new WorkspaceRemoval(
    sandboxes,
    (executorId, threadId) => requestRemoval(nats, executorId, threadId),
    (executorId) => mover.standInFor(executorId),
  );
  return {
    retention: { everyMs, work: () => retention.trim() },
    idempotencyKeys: { everyMs, work: () => idempotencyKeys.prune() },
    secretUses: { everyMs, work: () => secretUses.prune() },
    purge: { everyMs, work: () => purge.some() },
    blobs: { everyMs, work: () => blobs.sweep() },
    files: { everyMs, work: () => files.sweep() },
    toolSets: { everyMs, work: () => toolSets.sweep() },
    workspaces: { everyMs, work: () => workspaces.remove() },
  };
}
