import type { ClientProxy } from '@nestjs/microservices';
import type { RunId } from '@rondo/contract';
import type { PendingStop } from '@rondo/domain';
import { type RunLive, type RunStop, signals } from '@rondo/messaging';
import { catchError, firstValueFrom, map, of, timeout } from 'rxjs';

const answerWithinMs = 300;

/** What the gateway says to workers. Fast, and allowed to be lost: what matters stands in Postgres (I7). */
export class WorkerSignals {
  constructor(
    private readonly client: ClientProxy,
    private readonly onTrouble: (error: unknown) => void,
  ) {}

  stop({ runId, stop }: PendingStop): void {
    const order: RunStop = { run_id: runId, requested_at: stop.requestedAt, reason: stop.reason };
    this.client.emit(signals.stop.pattern, order).subscribe({ error: this.onTrouble });
  }

  /** The text so far of the streams that a worker has open for a run; none when it does not answer in time. */
  openStreams(workerId: string, runId: RunId): Promise<RunLive['streams']> {
    return firstValueFrom(
      this.client.send<unknown>(signals.live.patternOf(workerId), { run_id: runId }).pipe(
        timeout(answerWithinMs),
        map((answer) => signals.live.answer.parse(answer).streams),
        catchError(() => of([])),
      ),
    );
  }

  async close(): Promise<void> {
    await this.client.close();
  }
}
