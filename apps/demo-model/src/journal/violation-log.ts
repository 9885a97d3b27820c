import type { Violation } from '../refusal';
import { Ring } from './ring';

export interface ViolationEntry {
  readonly at: string;
  readonly protocol: string;
  readonly message: string;
  readonly parameter: string | null;
  /** The beginning of the request that broke the rule. */
  readonly body: string;
}

const capacity = 100;
const bodyBytes = 16_384;

/** Requests that a strict provider would refuse. It stays empty as long as Rondo keeps its promise (I6). */
export class ViolationLog {
  private readonly ring = new Ring<ViolationEntry>(capacity);

  add(protocol: string, violation: Violation, body: Buffer): void {
    this.ring.push({
      at: new Date().toISOString(),
      protocol,
      message: violation.message,
      parameter: violation.details.parameter ?? null,
      body: body.toString('utf8', 0, bodyBytes),
    });
  }

  list() {
    return { total: this.ring.total, data: this.ring.newest(capacity) };
  }

  clear(): void {
    this.ring.clear();
  }
}
