import { eventId } from '@rondo/contract';
import { type Database, type Runs, findHolder } from '@rondo/persistence';
import { newUlid } from '@rondo/platform';
import type { MemoryBudget } from '../auth/memory-budget';
import type { WorkerSignals } from '../runs/worker-signals';
import type { DeferredRunFeed } from './deferred-run-feed';
import { createRunSources } from './run-sources';
import { RunSubscriptions } from './run-subscriptions';
import { StreamMetrics } from './stream-metrics';
import { ThreadSubscriptions } from './thread-subscriptions';

const subscriptionSettings = {
  pollMs: 2_000,
  retryMs: 500,
  feedReadyMs: 300,
  pendingEvents: 2_000,
  streams: { keptText: 4 * 1024 * 1024, rememberedStreams: 256 },
} as const;

interface SubscriptionParts {
  readonly database: Database;
  readonly runs: Runs;
  readonly feed: DeferredRunFeed;
  readonly workers: WorkerSignals;
}

/** All subscriptions to runs at this gateway, and what is counted of them. */
export function composeSubscriptions(
  { database, runs, feed, workers }: SubscriptionParts,
  settings: { stallLimitMs: number; memory: MemoryBudget; onError: (error: unknown) => void },
): { subscriptions: RunSubscriptions; threadSubscriptions: ThreadSubscriptions; streamMetrics: StreamMetrics } {
  const newEventId = () => eventId.parse(`evt_${newUlid()}`);
  const sources = createRunSources({ runs, findHolder: (run) => findHolder(database, run), feed, workers, newEventId });
  const streamMetrics = new StreamMetrics();
  const options = { ...subscriptionSettings, ...settings, metrics: streamMetrics, newEventId };
  const subscriptions = new RunSubscriptions(sources, options);
  database.onReplaced(() => subscriptions.cutAll());
  const threads = {
    listBegun: runs.listBegun.bind(runs),
    countBegun: runs.countBegun.bind(runs),
    watchThread: feed.watchThread.bind(feed),
  };
  return {
    subscriptions,
    threadSubscriptions: new ThreadSubscriptions(threads, subscriptions, options),
    streamMetrics,
  };
}
