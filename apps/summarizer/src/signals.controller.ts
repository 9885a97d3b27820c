import { Controller } from '@nestjs/common';
import { EventPattern, Payload } from '@nestjs/microservices';
import { signals } from '@rondo/messaging';
import { HeldCompactions } from './held-compactions';

/** A stop reaches a run also while it waits for its summary. The heartbeat finds what this misses. */
@Controller()
export class SignalsController {
  constructor(private readonly held: HeldCompactions) {}

  @EventPattern(signals.stop.pattern)
  stop(@Payload() payload: unknown): void {
    this.held.stop(signals.stop.payload.parse(payload).run_id);
  }
}
