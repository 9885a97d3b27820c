import { Counter, type Registry } from 'prom-client';
import type { Attempt, WebhookSender } from './webhook-sender';

const outcomes = ['delivered', 'failed', 'gone'] as const satisfies readonly Attempt['how'][];

/** What became of the attempts to deliver webhooks. */
export class WebhookMetrics {
  private readonly attempts = new Counter({
    name: 'rondo_webhook_attempts_total',
    help: 'Attempts of this gateway to deliver a webhook, by outcome',
    labelNames: ['outcome'],
    registers: [],
  });
  private readonly givenUp = new Counter({
    name: 'rondo_webhooks_given_up_total',
    help: 'Webhook deliveries that will not be tried again',
    registers: [],
  });

  constructor() {
    for (const outcome of outcomes) this.attempts.inc({ outcome }, 0);
  }

  registerOn(registry: Registry): void {
    registry.registerMetric(this.attempts);
    registry.registerMetric(this.givenUp);
  }

  /** The same sender; its attempts are counted, but not those that a shutdown breaks off. */
  countAttempts(sender: Pick<WebhookSender, 'send'>): Pick<WebhookSender, 'send'> {
    return {
      send: async (delivery, endpoint, signal) => {
        const attempt = await sender.send(delivery, endpoint, signal);
        if (attempt !== 'aborted') this.attempts.inc({ outcome: attempt.how });
        return attempt;
      },
    };
  }

  countGivenUp(): void {
    this.givenUp.inc();
  }
}
