import { Counter, type Registry } from 'prom-client';
import type { Ending } from './run-subscriber';
import { type SubscriberEvent, isNotice } from './stream-notices';

const endings = ['ended', 'closed', 'stalled', 'deleted', 'cut'] as const satisfies readonly Ending[];

/** What this gateway sends to subscribers of runs, and how their subscriptions end. */
export class StreamMetrics {
  private readonly events = new Counter({
    name: 'rondo_gateway_events_total',
    help: 'Events that were sent to subscribers',
    labelNames: ['kind'],
    registers: [],
  });
  /** Looked up once: a gateway sends thousands of events a second. */
  private readonly byKind = {
    fact: this.events.labels('fact'),
    delta: this.events.labels('delta'),
    notice: this.events.labels('notice'),
  };
  private readonly subscriptions = new Counter({
    name: 'rondo_gateway_subscriptions_ended_total',
    help: 'Subscriptions that ended; those that stalled did not read',
    labelNames: ['ending'],
    registers: [],
  });

  constructor() {
    for (const series of Object.values(this.byKind)) series.inc(0);
    for (const ending of endings) this.subscriptions.inc({ ending }, 0);
  }

  registerOn(registry: Registry): void {
    registry.registerMetric(this.events);
    registry.registerMetric(this.subscriptions);
  }

  countEvent(event: SubscriberEvent): void {
    this.byKind[toKind(event)].inc();
  }

  countEnding(ending: Ending): void {
    this.subscriptions.inc({ ending });
  }
}

function toKind(event: SubscriberEvent): 'fact' | 'delta' | 'notice' {
  if (isNotice(event)) return 'notice';
  return event.seq === null ? 'delta' : 'fact';
}
