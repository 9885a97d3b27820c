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
    const { requestedAt: requested_at, reason, error } = stop;
    const order: RunStop = { run_id: runId, requested_at, reason, ...(error !== undefined && { error }) };
    this.client.emit(signals.stop.pattern, order).subscribe({ error: this.onError });
  }

  steer(runId: RunId): void {
    this.client.emit(signals.steer.pattern, { run_id: runId }).subscribe({ error: this.onError });
  }

  /** The text so far of the streams that a worker has open for a run; none when it does not answer in time. */
  async openStreams(workerId: string, runId: RunId): Promise<RunLive['streams']> {
    const live = await this.askHolder(workerId, runId);
    return live?.streams ?? [];
  }

  /** Why a worker can send no tool calls, in words; undefined when it can, or does not answer in time. */
  async callsProblem(workerId: string, runId: RunId): Promise<string | undefined> {
    const live = await this.askHolder(workerId, runId);
    return live?.calls_problem;
  }

  /** The MCP servers that a run waits for; none when its worker does not answer in time. */
  async startingServers(workerId: string, runId: RunId): Promise<NonNullable<RunLive['starting_servers']>> {
    const live = await this.askHolder(workerId, runId);
    return live?.starting_servers ?? [];
  }

  private askHolder(workerId: string, runId: RunId): Promise<RunLive | undefined> {
    return firstValueFrom(
      this.client.send<unknown>(signals.live.toPattern(workerId), { run_id: runId }).pipe(
        timeout(replyTimeoutMs),
        map((answer) => signals.live.answer.parse(answer)),
        catchError(() => of(undefined)),
      ),
    );
  }

  async close(): Promise<void> {
    await this.client.close();
  }
}
