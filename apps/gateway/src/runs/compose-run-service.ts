import type { RunFeed } from '@rondo/domain';
import type { RunQueues } from '@rondo/messaging';
import type { Outbox } from '@rondo/persistence';
import { type FactMetrics, OutboxRelay, type RunTraces } from '@rondo/run-holder';
import { RunService, type RunServiceDependencies } from './run-service';
import type { WorkerSignals } from './worker-signals';

type Publishing = 'publishJobs' | 'publishJob' | 'publishFacts' | 'signalStop' | 'signalSteer';

interface RunServiceParts extends Omit<RunServiceDependencies, Publishing> {
  readonly outbox: Outbox;
  readonly queues: RunQueues;
  readonly feed: Pick<RunFeed, 'publish'>;
  readonly workers: WorkerSignals;
  readonly factMetrics: FactMetrics;
  readonly runTraces?: RunTraces;
  readonly onError: (error: unknown) => void;
}

export function composeRunService(parts: RunServiceParts): RunService {
  const { outbox, queues, feed, workers, factMetrics, runTraces, onError, ...dependencies } = parts;
  const countedFeed = factMetrics.countFacts(feed);
  const relay = new OutboxRelay(outbox, queues, onError);
  return new RunService({
    ...dependencies,
    publishJobs: () => void relay.publish(),
    publishJob: (job) => void relay.publishEntry(job),
    publishFacts: (facts) => {
      countedFeed.publish(facts);
      runTraces?.note(facts);
    },
    signalStop: workers.stop.bind(workers),
    signalSteer: workers.steer.bind(workers),
  });
}
