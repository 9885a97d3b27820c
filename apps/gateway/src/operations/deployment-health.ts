import type { RunQueue, RunQueues } from '@rondo/messaging';
import { type Database, readDeploymentState } from '@rondo/persistence';
import type { OpenConnections } from '../auth/open-connections';
import type { ToolCatalog } from '../catalog/tool-catalog';
import type { RunSubscriptions } from '../live/run-subscriptions';

interface HealthParts {
  readonly database: Pick<Database, 'sql' | 'ping'>;
  readonly queues: RunQueues;
  readonly feed: { ping(): Promise<void> };
  readonly toolCatalog: Pick<ToolCatalog, 'executors'>;
  readonly subscriptions: Pick<RunSubscriptions, 'runCount' | 'subscriberCount'>;
  readonly connections: Pick<OpenConnections, 'count'>;
}

/** What an operator wants to know of the whole deployment, as one gateway sees it. What cannot be read is null. */
export class DeploymentHealth {
  constructor(private readonly parts: HealthParts) {}

  async read() {
    const { database, queues, feed, toolCatalog, subscriptions, connections } = this.parts;
    const [postgres, redis, nats, state, runs, compactions] = await Promise.all([
      answers(database.ping()),
      answers(queues.ping()),
      answers(feed.ping()),
      orNull(readDeploymentState(database)),
      orNull(jobsOf(queues.runs)),
      orNull(jobsOf(queues.compactions)),
    ]);
    return {
      at: new Date().toISOString(),
      servers: { postgres, redis, nats },
      gateway: {
        watched_runs: subscriptions.runCount,
        watchers: subscriptions.subscriberCount,
        connections: connections.count,
      },
      runs: state && state.runs,
      queues: [
        { name: 'runs', due: state && (state.due['runs'] ?? 0), jobs: runs },
        { name: 'compactions', due: state && (state.due['compactions'] ?? 0), jobs: compactions },
      ],
      workers:
        state &&
        state.workers.map(({ id, runs: held, leaseExpiresAt }) => ({
          id,
          runs: held,
          lease_expires_at: leaseExpiresAt,
        })),
      outbox: state && { entries: state.outbox.entries, oldest_at: state.outbox.oldestAt },
      executors: toolCatalog.executors ?? null,
    };
  }
}

const answers = (ping: Promise<unknown>): Promise<boolean> =>
  ping.then(
    () => true,
    () => false,
  );

const orNull = <Value>(read: Promise<Value>): Promise<Value | null> => read.catch(() => null);

/** The consumers are the connections of workers to this queue. */
async function jobsOf(queue: RunQueue) {
  await queue.ping();
  const [counts, consumers] = await Promise.all([
    queue.queue.getJobCounts('waiting', 'active', 'delayed'),
    queue.queue.getWorkersCount(),
  ]);
  return { waiting: counts['waiting'] ?? 0, active: counts['active'] ?? 0, delayed: counts['delayed'] ?? 0, consumers };
}
