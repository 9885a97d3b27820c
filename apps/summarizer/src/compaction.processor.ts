import { OnWorkerEvent, Processor, WorkerHost } from '@nestjs/bullmq';
import { Logger, type OnModuleDestroy } from '@nestjs/common';
import { queues, seldom } from '@rondo/messaging';
import type { Job } from 'bullmq';
import type { CompactionMetrics } from './compaction-metrics';
import { Compactor } from './compactor';

/** Processes the jobs of the compactions' queue. The concurrency is set when the process starts, by its configuration. */
@Processor(queues.compactions.name, { ...queues.compactions.workerOptions({ concurrency: 1 }), autorun: false })
export class CompactionProcessor extends WorkerHost implements OnModuleDestroy {
  private readonly log = new Logger(CompactionProcessor.name);
  private readonly report = seldom((error, about) =>
    this.log.warn({ msg: 'redis connection failed', error, ...about }),
  );

  constructor(
    private readonly compactor: Compactor,
    private readonly metrics: Pick<CompactionMetrics, 'count'>,
  ) {
    super();
  }

  start(concurrency: number): void {
    this.worker.concurrency = concurrency;
    this.worker.run().catch((error: unknown) => this.onError(error));
  }

  override async process(job: Job<unknown>): Promise<void> {
    const { run_id: runId } = queues.compactions.job.parse(job.data);
    const outcome = await this.compactor.compact(runId);
    this.metrics.count(outcome);
    this.log.log({ msg: 'compaction ended', runId, outcome });
  }

  @OnWorkerEvent('error')
  onError(error: unknown): void {
    this.report(error);
  }

  @OnWorkerEvent('failed')
  onFailed(job: Job<unknown> | undefined, error: Error): void {
    this.log.error({ msg: 'compaction broke', job: job?.id, error });
  }

  /** Accepts no more jobs; compactions in progress may end. */
  pause(): void {
    this.worker.pause(true).catch((error: unknown) => this.onError(error));
  }

  async onModuleDestroy(): Promise<void> {
    await this.worker.close();
  }
}
