import { Controller } from '@nestjs/common';
import { Ctx, EventPattern, MessagePattern, NatsContext, Payload } from '@nestjs/microservices';
import { type MessageHeaders, type RunLive, isFromStore, signals } from '@rondo/messaging';
import { config } from '../config';
import { ActiveRuns } from './active-runs';

/** What gateways say to workers. A signal that is lost has a twin in Postgres that the heartbeat finds. */
@Controller()
export class SignalsController {
  constructor(private readonly held: ActiveRuns) {}

  /** Goes to every worker; the one that holds the run stops it. */
  @EventPattern(signals.stop.pattern)
  stop(@Payload() payload: unknown, @Ctx() context: NatsContext): void {
    if (isFromStore(context.getHeaders() as MessageHeaders)) return; // Nest hands on what the library has.
    const { run_id, requested_at, reason } = signals.stop.payload.parse(payload);
    this.held.stop(run_id, { requestedAt: requested_at, reason });
  }

  /** The text so far of a run's open streams, for a watcher that comes in the middle of a message. */
  @MessagePattern(signals.live.patternOf(config.WORKER_ID))
  live(@Payload() payload: unknown): RunLive {
    const { run_id } = signals.live.payload.parse(payload);
    return { streams: this.held.find(run_id)?.journal?.streamsSoFar() ?? [] };
  }
}
