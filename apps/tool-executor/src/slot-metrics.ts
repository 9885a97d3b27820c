import type { SlotLimits } from '@rondo/messaging';
import { Gauge, type Registry } from 'prom-client';

export interface SlotLoad {
  readonly running: number;
  readonly waiting: number;
}

/** How full the executor is: calls that wait while slots are free belong to accounts or threads that have their share. */
export class SlotMetrics {
  constructor(registry: Registry, limits: SlotLimits, load: () => SlotLoad) {
    const registers = [registry];
    new Gauge({ name: 'rondo_tool_slots', help: 'Tool calls that may run at the same time', registers }).set(
      limits.total,
    );
    new Gauge({
      name: 'rondo_tool_slots_in_use',
      help: 'Tool calls that have a slot now',
      registers,
      collect() {
        this.set(load().running);
      },
    });
    new Gauge({
      name: 'rondo_tool_calls_waiting',
      help: 'Tool calls that wait for a slot',
      registers,
      collect() {
        this.set(load().waiting);
      },
    });
  }
}
