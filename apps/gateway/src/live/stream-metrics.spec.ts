import { Registry } from 'prom-client';
import { StreamMetrics } from './stream-metrics';
import type { SubscriberEvent } from './stream-notices';

/** Only what is counted. */
const event = (type: string, seq: number | null) => ({ type, seq }) as unknown as SubscriberEvent;

describe('StreamMetrics', () => {
  it('counts what is sent by its kind, and how subscriptions end', async () => {
    const registry = new Registry();
    const metrics = new StreamMetrics();
    metrics.registerOn(registry);

    metrics.countEvent(event('run.completed', 4));
    metrics.countEvent(event('message.delta', null));
    metrics.countEvent(event('message.delta', null));
    metrics.countEnding('stalled');

    const page = await registry.metrics();
    expect(page).toContain('rondo_gateway_events_total{kind="fact"} 1');
    expect(page).toContain('rondo_gateway_events_total{kind="delta"} 2');
    expect(page).toContain('rondo_gateway_events_total{kind="notice"} 0');
    expect(page).toContain('rondo_gateway_subscriptions_ended_total{ending="stalled"} 1');
    expect(page).toContain('rondo_gateway_subscriptions_ended_total{ending="ended"} 0');
  });
});
