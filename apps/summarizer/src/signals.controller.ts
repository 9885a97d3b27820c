import { Controller } from '@nestjs/common';
import { Ctx, EventPattern, NatsContext, Payload } from '@nestjs/microservices';
import { type MessageHeaders, isFromStore, signals } from '@rondo/messaging';
import { ActiveRuns } from '@rondo/run-holder';

/** Stops a run that waits for its summary. If the signal is lost, the heartbeat finds the request in Postgres. */
@Controller()
export class SignalsController {
  constructor(private readonly activeRuns: ActiveRuns) {}

  @EventPattern(signals.stop.pattern)
  stop(@Payload() payload: unknown, @Ctx() context: NatsContext): void {
    if (isFromStore(context.getHeaders() as MessageHeaders)) return; // Nest passes the client library's headers on
    const { run_id, requested_at, reason } = signals.stop.payload.parse(payload);
    this.activeRuns.stop(run_id, { requestedAt: requested_at, reason });
  }
}
