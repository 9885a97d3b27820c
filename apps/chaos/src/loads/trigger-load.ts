import type { Execution } from '@rondo/client';
import { setTimeout as delay } from 'node:timers/promises';
import { never } from '../scorecard/findings';
import { atPace, comesTrue } from '../test-bed/pace';
import { collect } from '../test-bed/patient-client';
import { toSignature } from '../test-bed/webhook-receiver';
import type { TestBed } from '../test-bed/test-bed';
import { type Load, type LoadAudit, isUnderWay, markWith, repeats, listRuns } from './load';

const name = 'trigger';
const pauseMs = 200;
const answerWithinMs = 30_000;
/** Each of so many is sent to both gateways at once, or with a wrong signature besides. */
const twiceEvery = 3;
const forgedEvery = 5;

/** Another system that posts signed webhooks, and repeats each until it is answered: each id has one run. */
export class TriggerLoad implements Load {
  /** The runs that the answers named, by the id of the webhook. */
  private readonly named = new Map<string, Set<string>>();
  private forgedAccepted = 0;

  private constructor(
    private readonly testBed: TestBed,
    private readonly trigger: { readonly id: string; readonly secret: string },
    private readonly everyMs: number,
  ) {}

  static async start(testBed: TestBed, everyMs: number): Promise<TriggerLoad> {
    const run = { input: 'Webhook {{body.id}}.', model: 'demo/plain', ...markWith(name) };
    const trigger = await testBed.client.webhookTriggers.create({ name, run });
    return new TriggerLoad(testBed, trigger, everyMs);
  }

  async run(over: AbortSignal, withinMs: number): Promise<void> {
    await atPace({ over, everyMs: this.everyMs }, (n) => this.deliver(n));
    const isDone = async () => !(await this.executions()).some(isUnderWay);
    await comesTrue(isDone, withinMs);
  }

  async audit(): Promise<LoadAudit> {
    const executions = await this.executions();
    const runs = await listRuns(this.testBed, name);
    const runIds = runs.map(({ id }) => id);
    const started = new Map(executions.map((one) => [one.webhook_id, one.run_id] as const));
    const lost = [...this.named].filter(([id]) => !runIds.includes(started.get(id) ?? ''));
    const others = [...this.named].filter(([id, named]) => [...named].some((run) => run !== started.get(id)));
    return {
      kind: 'webhooks that start runs',
      seen: this.named.size,
      lost: lost.length,
      doubled:
        repeats(executions.map(({ webhook_id: id }) => id)) +
        repeats(runs.map(({ preview }) => preview)) +
        others.length,
      bars: [never('webhooks with a wrong signature that were accepted', this.forgedAccepted)],
      details: [
        ...lost.map(([id]) => `${id} has no run`),
        ...others.map(([id, named]) => `${id} was answered with ${[...named].join(', ')}, and has ${started.get(id)}`),
      ],
      runIds,
    };
  }

  private executions(): Promise<Execution[]> {
    return collect(this.testBed.client.webhookTriggers.executions(this.trigger.id));
  }

  private async deliver(n: number): Promise<void> {
    const id = `webhook-${n}`;
    this.named.set(id, new Set());
    const [first = '', second = ''] = this.testBed.instances('gateway').map(({ url }) => url);
    const receivers = n % twiceEvery === 0 ? [first, second] : [n % 2 === 0 ? first : second];
    await Promise.all(receivers.map((url) => this.repeat(url, id)));
    if (n % forgedEvery !== 0) return;
    const forged = await this.post(first, `forged-${n}`, 'whsec_bm90IHRoZSBzZWNyZXQ=').catch(() => undefined);
    if (forged?.ok) this.forgedAccepted += 1;
  }

  /** Until it is accepted. */
  private async repeat(url: string, id: string): Promise<void> {
    for (;;) {
      const answer = await this.post(url, id, this.trigger.secret).catch(() => undefined);
      if (answer?.ok) {
        const { run_id: run } = (await answer.json()) as { run_id: string | null }; // the examination fails on any other
        if (run !== null) this.named.get(id)?.add(run);
        return;
      }
      if (answer && answer.status < 500 && answer.status !== 429) {
        throw new Error(`${id} was refused: ${answer.status} ${await answer.text()}`);
      }
      await delay(pauseMs);
    }
  }

  private post(url: string, id: string, secret: string): Promise<Response> {
    const body = JSON.stringify({ id });
    const timestamp = String(Math.floor(Date.now() / 1_000));
    return fetch(`${url}/v1/hooks/${this.trigger.id}`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': timestamp,
        'webhook-signature': toSignature(secret, { id, timestamp, body }),
      },
      body,
      signal: AbortSignal.timeout(answerWithinMs),
    });
  }
}
