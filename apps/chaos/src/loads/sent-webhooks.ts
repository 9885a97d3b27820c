import type { WebhookDelivery } from '@rondo/client';
import { webhookFactTypes } from '@rondo/contract';
import { never } from '../scorecard/findings';
import type { Examination } from '../test-bed/examine';
import { comesTrue } from '../test-bed/pace';
import { collect } from '../test-bed/patient-client';
import type { TestBed } from '../test-bed/test-bed';
import { type LoadAudit, repeats } from './load';
import { compareWithLogs } from './told-facts';

/** An endpoint that gets every fact that webhooks tell, of all runs: each at least once, in order, and nothing else. */
export class SentWebhooks {
  private constructor(private readonly testBed: TestBed) {}

  static async start(testBed: TestBed): Promise<SentWebhooks> {
    const url = `http://${testBed.receiver.host}/`;
    const { secret } = await testBed.client.webhookEndpoints.create({ url, events: [...webhookFactTypes] });
    testBed.receiver.secret = secret;
    return new SentWebhooks(testBed);
  }

  /** Resolves when none is pending, or after `withinMs`. What a killed gateway was sending is due again after a minute. */
  async drained(withinMs: number): Promise<void> {
    await comesTrue(async () => (await this.deliveries('pending')).length === 0, withinMs);
  }

  async audit({ runs }: Examination): Promise<LoadAudit> {
    const { attempts } = this.testBed.receiver;
    const logs = runs.flatMap(({ id, facts }) => facts.map((fact) => ({ ...fact, run_id: id })));
    const { due, missing, invented, misplaced, differing } = compareWithLogs(attempts, logs);
    return {
      kind: 'events of webhooks sent',
      seen: due,
      lost: missing.length,
      doubled: differing,
      bars: [
        never('webhooks sent about what the logs do not have', invented.length),
        never('webhooks sent out of the order of their run', misplaced.length),
        never('webhooks sent without a right signature', attempts.filter(({ signed }) => !signed).length),
        never('webhooks given up', (await this.deliveries('dead')).length),
      ],
      details: [
        ...missing.map(({ id, run_id: run, type }) => `${type} of ${run} (${id}) was not delivered`),
        ...invented.map(({ body }) => `not in a log: ${body.slice(0, 300)}`),
        ...misplaced.map(({ body }) => `out of order: ${body.slice(0, 300)}`),
      ],
      counts: { 'webhooks sent more than once': repeats(attempts.map(({ id }) => id)) },
      runIds: [],
    };
  }

  private deliveries(status: WebhookDelivery['status']): Promise<WebhookDelivery[]> {
    return collect(this.testBed.client.webhookEndpoints.deliveries({ status }));
  }
}
