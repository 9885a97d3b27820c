import { Controller, type Type } from '@nestjs/common';
import { Ctx, EventPattern, MessagePattern, NatsContext, Payload } from '@nestjs/microservices';
import { type MessageHeaders, type RunLive, type ToolStreams, signals, stopSignalOf } from '@rondo/messaging';
import { ActiveRuns } from '@rondo/run-holder';

interface Signals {
  stop(payload: unknown, context: NatsContext): void;
  live(payload: unknown): RunLive;
}

/** Signals from gateways to workers. A function, because a pattern contains the worker's id, which is configuration. */
export function signalsController(workerId: string, calls: Pick<ToolStreams, 'problem'>): Type<Signals> {
  @Controller()
  class SignalsController implements Signals {
    constructor(private readonly activeRuns: ActiveRuns) {}

    /** Goes to every worker; only the holder of the run acts. If it is lost, the heartbeat finds the request in Postgres. */
    @EventPattern(signals.stop.pattern)
    stop(@Payload() payload: unknown, @Ctx() context: NatsContext): void {
      const request = stopSignalOf(payload, context.getHeaders() as MessageHeaders); // Nest passes the client's headers on
      if (request) this.activeRuns.stop(request.runId, request.stop);
    }

    /**
     * The text so far of a run's open streams, for a subscriber that joins in the middle of a message, and why its calls wait
     * if this worker can send none.
     */
    @MessagePattern(signals.live.patternOf(workerId))
    live(@Payload() payload: unknown): RunLive {
      const { run_id } = signals.live.payload.parse(payload);
      return {
        streams: this.activeRuns.find(run_id)?.openStreams() ?? [],
        ...(calls.problem !== undefined && { calls_problem: calls.problem }),
      };
    }
  }
  return SignalsController;
}
