import { InjectQueue, OnWorkerEvent, Processor, WorkerHost } from '@nestjs/bullmq';
import { Logger, type OnModuleDestroy } from '@nestjs/common';
import { TerminalError } from '@rondo/domain';
import { queues } from '@rondo/messaging';
import { type Job, Queue } from 'bullmq';

const concurrency = 4;

/** Takes compactions off the queue. Nothing asks for one yet, so a job that comes is refused, never reported as done. */
@Processor(queues.compactions.name, queues.compactions.workerOptions({ concurrency }))
export class CompactionProcessor extends WorkerHost implements OnModuleDestroy {
  private readonly log = new Logger(CompactionProcessor.name);

  constructor(@InjectQueue(queues.compactions.name) private readonly queue: Queue) {
    super();
  }

  override process(job: Job<unknown>): Promise<never> {
    const { run_id: runId, thread_id: threadId } = queues.compactions.job.parse(job.data);
    this.log.warn({ msg: 'compaction refused', runId, threadId });
    return Promise.reject(new TerminalError('compaction_unsupported', 'This version makes no summaries.'));
  }

  @OnWorkerEvent('error')
  onError(error: Error): void {
    this.log.warn({ msg: 'redis connection failed', reason: error.message });
  }

  /** Rejects while Redis cannot be reached; for readiness checks. */
  async ping(): Promise<void> {
    await this.queue.getWaitingCount();
  }

  async onModuleDestroy(): Promise<void> {
    await this.worker.close();
  }
}
