import { Controller } from '@nestjs/common';
import { Ctx, EventPattern, NatsContext, Payload } from '@nestjs/microservices';
import { type MessageHeaders, isFromStore, signals } from '@rondo/messaging';
import { ActiveCompactions } from './active-compactions';

/** A stop reaches a run also while it waits for its summary. The heartbeat finds what this misses. */
@Controller()
export class SignalsController {
  constructor(private readonly held: ActiveCompactions) {}

  @EventPattern(signals.stop.pattern)
  stop(@Payload() payload: unknown, @Ctx() context: NatsContext): void {
    if (isFromStore(context.getHeaders() as MessageHeaders)) return; // Nest hands on what the library has.
    this.held.stop(signals.stop.payload.parse(payload).run_id);
  }
}
