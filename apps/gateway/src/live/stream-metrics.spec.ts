import { Registry } from 'prom-client';
import type { Sink } from './run-subscriber';
import { StreamMetrics } from './stream-metrics';
import type { SubscriberEvent } from './stream-notices';

/** Only what is counted. */
const event = (type: string, seq: number | null) => ({ type, seq }) as unknown as SubscriberEvent;

describe('StreamMetrics', () => {
  it('counts what is sent by its kind, and passes on whether the connection is full', async () => {
    const registry = new Registry();
    const metrics = new StreamMetrics();
    metrics.registerOn(registry);
    const sent: string[] = [];
    const sink: Sink = { send: (_, json) => sent.push(json) < 3, drained: () => Promise.resolve() };
    const counted = metrics.counted(sink);

    expect(counted.send(event('run.completed', 4), 'a')).toBe(true);
    expect(counted.send(event('message.delta', null), 'b')).toBe(true);
    expect(counted.send(event('message.delta', null), 'c')).toBe(false);
    metrics.ended('stalled');

    expect(sent).toEqual(['a', 'b', 'c']);
    const page = await registry.metrics();
    expect(page).toContain('rondo_gateway_events_total{kind="fact"} 1');
    expect(page).toContain('rondo_gateway_events_total{kind="delta"} 2');
    expect(page).toContain('rondo_gateway_events_total{kind="notice"} 0');
    expect(page).toContain('rondo_gateway_subscriptions_ended_total{ending="stalled"} 1');
    expect(page).toContain('rondo_gateway_subscriptions_ended_total{ending="ended"} 0');
  });
});
