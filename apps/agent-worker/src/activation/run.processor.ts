import { OnWorkerEvent, Processor, WorkerHost } from '@nestjs/bullmq';
import { Logger, type OnModuleDestroy } from '@nestjs/common';
import { closeSoon, queues } from '@rondo/messaging';
import type { Job } from 'bullmq';
import { AgentRunner, type ActivationOutcome } from './agent-runner';
import { config } from '../config';
import { RunMetrics } from '../maintenance/run-metrics';
import { takeTurn } from './take-turn';

/** Takes runs off the queue. What a run does is AgentRunner's business; here it is only a job. */
@Processor(queues.runs.name, queues.runs.workerOptions({ concurrency: config.RUN_CONCURRENCY }))
export class RunProcessor extends WorkerHost implements OnModuleDestroy {
  private readonly log = new Logger(RunProcessor.name);

  constructor(
    private readonly runner: AgentRunner,
    private readonly metrics: RunMetrics,
  ) {
    super();
  }

  @OnWorkerEvent('error')
  onError(error: Error): void {
    this.log.warn({ msg: 'redis connection failed', reason: error.message });
  }

  override async process(job: Job<unknown>): Promise<void> {
    const { run_id: runId } = queues.runs.job.parse(job.data);
    const verdict = await takeTurn(this.runner, { runId, waitedMs: Date.now() - job.timestamp });
    this.metrics.count(verdict);
    const level = isUsual(verdict) ? 'debug' : 'log';
    this.log[level]({ msg: 'run activation ended', jobId: job.id, verdict });
  }

  /** Takes no more runs; those in hand may end. */
  pause(): void {
    this.worker
      .pause(true)
      .catch((error: unknown) => this.log.warn({ msg: 'queue not paused', reason: String(error) }));
  }

  async onModuleDestroy(): Promise<void> {
    await closeSoon(this.worker);
  }
}

/** The run's own log tells of these, and a line for each run costs as much as a statement. */
const isUsual = (verdict: ActivationOutcome): boolean => verdict === 'ended' || verdict === 'parked';
