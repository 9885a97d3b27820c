import { OnWorkerEvent, Processor, WorkerHost } from '@nestjs/bullmq';
import { Logger, type OnModuleDestroy } from '@nestjs/common';
import type { RunId } from '@rondo/contract';
import { queues, seldom } from '@rondo/messaging';
import type { Job } from 'bullmq';
import type { AgentRunner } from './agent-runner';
import type { ActivationOutcome } from './agent-runner-parts';
import type { RunMetrics } from './run-metrics';

/** Processes the jobs of the runs' queue. The concurrency is set when the process starts, by its configuration. */
@Processor(queues.runs.name, { ...queues.runs.workerOptions({ concurrency: 1 }), autorun: false })
export class RunProcessor extends WorkerHost implements OnModuleDestroy {
  private readonly log = new Logger(RunProcessor.name);
  private readonly report = seldom((error, about) =>
    this.log.warn({ msg: 'redis connection failed', error, ...about }),
  );

  constructor(
    private readonly runner: Pick<AgentRunner, 'activate' | 'activateNext'>,
    private readonly metrics: Pick<RunMetrics, 'count'>,
  ) {
    super();
  }

  start(concurrency: number): void {
    this.worker.concurrency = concurrency;
    this.worker.run().catch((error: unknown) => this.onError(error));
  }

  @OnWorkerEvent('error')
  onError(error: unknown): void {
    this.report(error);
  }

  override async process(job: Job<unknown>): Promise<void> {
    const { run_id: runId } = queues.runs.job.parse(job.data);
    const outcome = await activateForJob(this.runner, { runId, waitedMs: Date.now() - job.timestamp });
    this.metrics.count(outcome);
    const level = isUsual(outcome) ? 'debug' : 'log';
    this.log[level]({ msg: 'run activation ended', jobId: job.id, outcome });
  }

  /** Accepts no more jobs; active runs continue. */
  pause(): void {
    this.worker
      .pause(true)
      .catch((error: unknown) => this.log.warn({ msg: 'queue not paused', reason: String(error) }));
  }

  async onModuleDestroy(): Promise<void> {
    await this.worker.close();
  }
}

/** The run's own log shows these outcomes, and a log line for each run costs as much as a statement. */
const isUsual = (outcome: ActivationOutcome): boolean => outcome === 'ended' || outcome === 'parked';

/** A job that waited longer shows that more runs are due than workers can activate. */
export const backlogAfterMs = 100;

/** Runs of a newer version that are met instead of the next run; more than that are left to later jobs. */
const mostPassedOver = 10;

interface DueJob {
  readonly runId: RunId;
  readonly waitedMs: number;
}

/**
 * A job says that one run is due. Without a backlog the worker activates that run. In a backlog it activates the run
 * whose turn it is; the job of that run later finds it claimed and activates the next one. There are as many jobs as
 * due runs, so no run is left out, and an account with a thousand queued runs waits as long for its next activation as
 * an account with a single one. A run that only a newer version can continue is passed over, or it would use up the job of
 * another.
 */
export async function activateForJob(
  runner: Pick<AgentRunner, 'activate' | 'activateNext'>,
  { runId, waitedMs }: DueJob,
): Promise<ActivationOutcome> {
  let outcome = waitedMs <= backlogAfterMs ? await runner.activate(runId) : 'not due';
  if (outcome === 'not due') outcome = await runner.activateNext();
  for (let count = 1; outcome === 'needs a newer version' && count <= mostPassedOver; count += 1) {
    outcome = await runner.activateNext();
  }
  return outcome;
}
