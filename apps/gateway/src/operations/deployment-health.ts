import type { DeploymentHealth as Health } from '@rondo/contract/api';
import type { RunQueue, RunQueues } from '@rondo/messaging';
import { type Database, readDeploymentState } from '@rondo/persistence';
import type { OpenConnections } from '../auth/open-connections';
import type { ToolCatalog } from '../catalog/tool-catalog';
import type { RunSubscriptions } from '../live/run-subscriptions';
import { type Found, findFaults } from './findings';
import type { SignsOfLife } from './signs-of-life';

interface HealthParts {
  readonly database: Pick<Database, 'sql' | 'ping'>;
  readonly queues: RunQueues;
  readonly feed: { ping(): Promise<void> };
  readonly toolCatalog: Pick<ToolCatalog, 'executors'>;
  readonly signsOfLife: Pick<SignsOfLife, 'processes'>;
  readonly subscriptions: Pick<RunSubscriptions, 'runCount' | 'subscriberCount'>;
  readonly connections: Pick<OpenConnections, 'count'>;
}

/** What an operator wants to know of the whole deployment, as one gateway sees it. What cannot be read is null. */
export class DeploymentHealth {
  constructor(private readonly parts: HealthParts) {}

  async read(): Promise<Health> {
    const found = await this.find();
    return { ...found, findings: findFaults(found) };
  }

  private async find(): Promise<Found> {
    const { database, queues, feed, toolCatalog, signsOfLife, subscriptions, connections } = this.parts;
    const [postgres, redis, nats, state, runs, compactions] = await Promise.all([
      answers(database.ping()),
      answers(queues.ping()),
      answers(feed.ping()),
      orNull(readDeploymentState(database)),
      orNull(readJobs(queues.runs)),
      orNull(readJobs(queues.compactions)),
    ]);
    const now = Date.now();
    return {
      at: new Date(now).toISOString(),
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
      processes:
        signsOfLife.processes?.map(({ id, service, silentMs, isSilent }) => ({
          ...{ id, service, is_silent: isSilent },
          heard_at: new Date(now - silentMs).toISOString(),
        })) ?? null,
      outbox: state && { entries: state.outbox.entries, oldest_at: state.outbox.oldestAt },
      executors: toolCatalog.executors?.map((executor) => ({ ...executor })) ?? null,
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
async function readJobs(queue: RunQueue) {
  await queue.ping();
  const [counts, consumers] = await Promise.all([
    queue.queue.getJobCounts('waiting', 'active', 'delayed'),
    queue.queue.getWorkersCount(),
  ]);
  return { waiting: counts['waiting'] ?? 0, active: counts['active'] ?? 0, delayed: counts['delayed'] ?? 0, consumers };
}
