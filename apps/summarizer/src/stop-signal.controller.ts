import { Controller } from '@nestjs/common';
import { Ctx, EventPattern, NatsContext, Payload } from '@nestjs/microservices';
import { type MessageHeaders, signals, stopSignalOf } from '@rondo/messaging';
import { ActiveRuns } from '@rondo/run-holder';

/** Stops a run that waits for its summary. If the signal is lost, the heartbeat finds the request in Postgres. */
@Controller()
export class StopSignalController {
  constructor(private readonly activeRuns: ActiveRuns) {}

  @EventPattern(signals.stop.pattern)
  stop(@Payload() payload: unknown, @Ctx() context: NatsContext): void {
    const request = stopSignalOf(payload, context.getHeaders() as MessageHeaders); // Nest passes the client's headers on
    if (request) this.activeRuns.stop(request.runId, request.stop);
  }
}
