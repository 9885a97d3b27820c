import { isDeepStrictEqual } from 'node:util';
import type { WebhookDelivery } from '@rondo/client';
import { webhookFactTypes } from '@rondo/contract';
import type { Fact } from '@rondo/test-deployment';
import { never } from '../scorecard/findings';
import type { Examination } from '../test-bed/examine';
import { comesTrue } from '../test-bed/pace';
import { collect } from '../test-bed/patient-client';
import type { TestBed } from '../test-bed/test-bed';
import { type LoadAudit, repeats } from './load';
import type { ReceivedAttempt } from '../test-bed/webhook-receiver';

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
  async waitUntilSent(withinMs: number): Promise<void> {
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

/** What an endpoint was told, compared with the logs of all runs. */
interface ToldFacts {
  /** Facts that it should have been told. */
  readonly due: number;
  /** Of those, the ones that it has not accepted. */
  readonly missing: readonly LoggedFact[];
  /** Attempts that say something that is in no log. */
  readonly invented: readonly ReceivedAttempt[];
  /** Attempts that were accepted for the first time after a later fact of their run. */
  readonly misplaced: readonly ReceivedAttempt[];
  /** How many ids came with several bodies. */
  readonly differing: number;
}

/** A fact as webhooks have it. */
export type LoggedFact = Fact & { readonly run_id: string };

const types: readonly string[] = webhookFactTypes;

export function compareWithLogs(attempts: readonly ReceivedAttempt[], logs: readonly LoggedFact[]): ToldFacts {
  const due = logs.filter(({ type }) => types.includes(type));
  const log = new Map(due.map((fact) => [fact.id, parseHere(fact)] as const));
  const accepted = new Set(attempts.filter((one) => one.accepted).map(({ id }) => id));
  const bodies = new Map(attempts.map(({ id, body }) => [`${id} ${body}`, id] as const));
  return {
    due: due.length,
    missing: due.filter(({ id }) => !accepted.has(id)),
    invented: attempts.filter(({ id, body }) => !isDeepStrictEqual(factIn(body), log.get(id))),
    misplaced: findMisplaced(attempts),
    differing: repeats([...bodies.values()]),
  };
}

function findMisplaced(attempts: readonly ReceivedAttempt[]): ReceivedAttempt[] {
  const firsts = new Map<string, ReceivedAttempt>();
  for (const one of attempts) if (one.accepted && !firsts.has(one.id)) firsts.set(one.id, one);
  const newest = new Map<string, number>();
  return [...firsts.values()].filter(({ body }) => {
    const { run_id: run, seq } = factIn(body);
    const before = newest.get(run) ?? 0;
    newest.set(run, Math.max(before, seq));
    return seq < before;
  });
}

/** Under Jest, what `fetch` parses has other prototypes than what this file parses, and would equal nothing here. */
const parseHere = (fact: LoggedFact): LoggedFact => JSON.parse(JSON.stringify(fact)) as LoggedFact;

/** A body of another shape is counted as invented. */
const factIn = (body: string): LoggedFact => (JSON.parse(body) as { data: LoggedFact }).data;
