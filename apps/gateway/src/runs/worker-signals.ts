import type { ClientProxy } from '@nestjs/microservices';
import type { RunId } from '@rondo/contract';
import type { PendingStop } from '@rondo/domain';
import { type RunLive, type RunStop, signals } from '@rondo/messaging';
import { catchError, firstValueFrom, map, of, timeout } from 'rxjs';

const replyTimeoutMs = 300;

/** Messages to the workers. They are fast and may be lost: what must happen stands in Postgres (I7). */
export class WorkerSignals {
  constructor(
    private readonly client: ClientProxy,
    private readonly onError: (error: unknown) => void,
  ) {}

  stop({ runId, stop }: PendingStop): void {
    const order: RunStop = { run_id: runId, requested_at: stop.requestedAt, reason: stop.reason };
    this.client.emit(signals.stop.pattern, order).subscribe({ error: this.onError });
  }

  /** The text so far of the streams that a worker has open for a run; none when it does not answer in time. */
  openStreams(workerId: string, runId: RunId): Promise<RunLive['streams']> {
    return firstValueFrom(
      this.client.send<unknown>(signals.live.patternOf(workerId), { run_id: runId }).pipe(
        timeout(replyTimeoutMs),
        map((answer) => signals.live.answer.parse(answer).streams),
        catchError(() => of([])),
      ),
    );
  }

  async close(): Promise<void> {
    await this.client.close();
  }
}
