import type { RunFeed } from '@rondo/domain';
import type { RunQueues } from '@rondo/messaging';
import type { Outbox, Runs } from '@rondo/persistence';
import { OutboxRelay, type RunTraces } from '@rondo/run-holder';
import { RunService, type RunServiceDependencies } from './run-service';
import type { WorkerSignals } from './worker-signals';

interface RunServiceParts extends Pick<
  RunServiceDependencies,
  | 'settings'
  | 'agents'
  | 'accountLimits'
  | 'quota'
  | 'quotas'
  | 'sandboxes'
  | 'secrets'
  | 'skills'
  | 'memory'
  | 'rewinds'
  | 'creationTraces'
> {
  readonly runs: Runs;
  readonly outbox: Outbox;
  readonly queues: RunQueues;
  readonly feed: Pick<RunFeed, 'publish'>;
  readonly workers: WorkerSignals;
  readonly runTraces?: RunTraces;
  readonly onError: (error: unknown) => void;
}

export function composeRunService(parts: RunServiceParts): RunService {
  const { runs, outbox, queues, feed, workers, settings, agents, accountLimits, quota, onError } = parts;
  const { creationTraces, runTraces } = parts;
  const relay = new OutboxRelay(outbox, queues, onError);
  return new RunService({
    runs,
    settings,
    agents,
    accountLimits,
    quota,
    quotas: parts.quotas,
    sandboxes: parts.sandboxes,
    secrets: parts.secrets,
    skills: parts.skills,
    memory: parts.memory,
    rewinds: parts.rewinds,
    ...(creationTraces && { creationTraces }),
    publishJobs: () => void relay.publish(),
    publishJob: (job) => void relay.publishEntry(job),
    publishFacts: (facts) => {
      feed.publish(facts);
      runTraces?.note(facts);
    },
    signalStop: workers.stop.bind(workers),
    signalSteer: workers.steer.bind(workers),
  });
}
