import { compactionId, messageId, modelCallId } from '@rondo/contract';
import type { Clock, IdGenerator } from '../ports';

/** Ids that count up. */
export class CountingIds implements IdGenerator {
  private count = 0;

  messageId() {
    return messageId.parse(`msg_${this.next()}`);
  }

  modelCallId() {
    return modelCallId.parse(`mdl_${this.next()}`);
  }

  compactionId() {
    return compactionId.parse(`cmp_${this.next()}`);
  }

  private next(): number {
    this.count += 1;
    return this.count;
  }
}

/** A clock that moves on each time it is read. */
export class TickingClock implements Clock {
  private ticks = 0;

  constructor(private readonly tickMs = 1) {}

  now(): string {
    this.ticks += 1;
    return new Date(1_700_000_000_000 + this.ticks * this.tickMs).toISOString();
  }
}
