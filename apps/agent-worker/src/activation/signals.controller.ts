import { Controller, type Type } from '@nestjs/common';
import { Ctx, EventPattern, MessagePattern, NatsContext, Payload } from '@nestjs/microservices';
import {
  type MessageHeaders,
  type RunLive,
  type ToolStreams,
  signals,
  findSteeredRun,
  findStopSignal,
} from '@rondo/messaging';
import { ActiveRuns } from '@rondo/run-holder';
import type { McpCatalog } from './mcp-catalog';

interface Signals {
  stop(payload: unknown, context: NatsContext): void;
  steer(payload: unknown, context: NatsContext): void;
  live(payload: unknown): RunLive;
}

/** Signals from gateways to workers. A function, because a pattern contains the worker's id, which is configuration. */
export function signalsController(
  workerId: string,
  { calls, servers }: { calls: Pick<ToolStreams, 'problem'>; servers: Pick<McpCatalog, 'readStarting'> },
): Type<Signals> {
  @Controller()
  class SignalsController implements Signals {
    constructor(private readonly activeRuns: ActiveRuns) {}

    /** Goes to every worker; only the holder of the run acts. If it is lost, the heartbeat finds the request in Postgres. */
    @EventPattern(signals.stop.pattern)
    stop(@Payload() payload: unknown, @Ctx() context: NatsContext): void {
      const request = findStopSignal(payload, context.getHeaders() as MessageHeaders); // Nest passes the client's headers on
      if (request) this.activeRuns.stop(request.runId, request.stop);
    }

    @EventPattern(signals.steer.pattern)
    steer(@Payload() payload: unknown, @Ctx() context: NatsContext): void {
      const runId = findSteeredRun(payload, context.getHeaders() as MessageHeaders); // see above
      if (runId) this.activeRuns.find(runId)?.tell();
    }

    /**
     * The text so far of a run's open streams, for a subscriber that joins in the middle of a message, why its calls wait
     * if this worker can send none, and the MCP servers that it waits for.
     */
    @MessagePattern(signals.live.toPattern(workerId))
    live(@Payload() payload: unknown): RunLive {
      const { run_id } = signals.live.payload.parse(payload);
      const starting = servers.readStarting(run_id);
      return {
        streams: this.activeRuns.find(run_id)?.openStreams() ?? [],
        ...(calls.problem !== undefined && { calls_problem: calls.problem }),
        ...(starting.length > 0 && { starting_servers: [...starting] }),
      };
    }
  }
  return SignalsController;
}
