import { compactionId, messageId, modelCallId } from '@rondo/contract';
import type { IdsAndClock } from '../ports';

/** Ids that count up and a clock that ticks at each look. */
export class CountingIdsAndClock implements IdsAndClock {
  private count = 0;

  constructor(private readonly tickMs = 1) {}

  messageId() {
    return messageId.parse(`msg_${this.next()}`);
  }

  modelCallId() {
    return modelCallId.parse(`mdl_${this.next()}`);
  }

  compactionId() {
    return compactionId.parse(`cmp_${this.next()}`);
  }

  now(): string {
    return new Date(1_700_000_000_000 + this.next() * this.tickMs).toISOString();
  }

  private next(): number {
    this.count += 1;
    return this.count;
  }
}
