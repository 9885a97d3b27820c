import type { DueDelivery, ReceivingEndpoint } from '@rondo/persistence';
import { Registry } from 'prom-client';
import { WebhookMetrics } from './webhook-metrics';
import type { Attempt } from './webhook-sender';

describe('WebhookMetrics', () => {
  it('counts attempts by outcome, but not those that a shutdown breaks off', async () => {
    const registry = new Registry();
    const metrics = new WebhookMetrics();
    metrics.registerOn(registry);
    const outcomes: (Attempt | 'aborted')[] = [
      { how: 'delivered', responseStatus: 200 },
      { how: 'gone', responseStatus: 410, error: 'gone' },
      'aborted',
    ];
    const sender = metrics.countAttempts({ send: () => Promise.resolve(outcomes.shift() ?? 'aborted') });
    const send = () => sender.send({} as DueDelivery, {} as ReceivingEndpoint, new AbortController().signal);

    expect([await send(), await send(), await send()]).toHaveLength(3);
    metrics.countGivenUp();

    const page = await registry.metrics();
    expect(page).toContain('rondo_webhook_attempts_total{outcome="delivered"} 1');
    expect(page).toContain('rondo_webhook_attempts_total{outcome="gone"} 1');
    expect(page).toContain('rondo_webhook_attempts_total{outcome="failed"} 0');
    expect(page).toContain('rondo_webhooks_given_up_total 1');
  });
});
