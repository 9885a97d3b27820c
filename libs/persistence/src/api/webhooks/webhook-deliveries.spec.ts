import {
  type AccountId,
  type NewFact,
  type WebhookEndpoint,
  type WebhookFactType,
  webhookEndpointId,
  webhookFactTypes,
} from '@rondo/contract';
import type { Claim } from '@rondo/domain';
import { purgeThreads } from '../../retention/purge-thread';
import {
  StoreFixture,
  completed,
  iterationStarted,
  newAccount,
  nextId,
  reply,
  settings,
  started,
  textInput,
  usage,
  waits,
} from '../../testing/store-fixture';
import { lastDelivery } from './delivery-row';
import { DueDeliveries, type DueDelivery } from './due-deliveries';
import { WebhookDeliveries } from './webhook-deliveries';
import { type EndpointFields, WebhookEndpoints } from './webhook-endpoints';

let fixture: StoreFixture;
let endpoints: WebhookEndpoints;
let deliveries: WebhookDeliveries;
let due: DueDeliveries;
let accountId: AccountId;
beforeAll(async () => {
  fixture = await StoreFixture.open();
  endpoints = new WebhookEndpoints(fixture.database);
  deliveries = new WebhookDeliveries(fixture.database, nextId);
  due = new DueDeliveries(fixture.database);
});
afterAll(() => fixture.close());
beforeEach(async () => {
  await fixture.database.sql.query('delete from webhook_deliveries');
  accountId = await newAccount(fixture.database);
});

const endpoint = (fields: Partial<EndpointFields> = {}): Promise<WebhookEndpoint> =>
  endpoints.create({
    accountId,
    endpointId: webhookEndpointId.parse(`whe_${nextId()}`),
    fields: {
      url: 'https://example.com/',
      description: '',
      events: [...webhookFactTypes],
      is_paused: false,
      ...fields,
    },
    secret: { sealed: 'sealed', hint: 'cret', created_at: new Date().toISOString(), expires_at: null },
  });

async function claimedRun(account = accountId): Promise<Claim> {
  const { run } = await fixture.create({ accountId: account });
  return fixture.claim(run.id);
}

interface Account {
  readonly isBusy?: boolean;
  readonly most?: number;
}

const listed = async (filter = {}) => (await deliveries.list({ accountId, limit: 100, ...filter })).data;
const claimAll = async (endpoints: readonly string[] = [], perEndpoint = 100, account: Account = {}) =>
  [
    ...(
      await due.claim({
        busy: { endpoints, accounts: account.isBusy ? [accountId] : [] },
        most: { ofEndpoint: perEndpoint, ofAccount: account.most ?? 100 },
      })
    ).claimed,
  ].sort((one, other) => one.id.localeCompare(other.id));
const theOnly = (claimed: readonly DueDelivery[]): DueDelivery => {
  const [first, ...others] = claimed;
  if (!first || others.length > 0) throw new Error(`${claimed.length} instead of one`);
  return first;
};
/** As if all pauses and time limits had passed. */
const passTime = () =>
  fixture.database.sql.query(
    `update webhook_deliveries set next_attempt_at = next_attempt_at - interval '1 day' where status = 'pending'`,
  );

describe('deliveries of facts', () => {
  it('are written with the facts that an endpoint has chosen, and hold them as the log does (I1)', async () => {
    const [all, some] = [await endpoint(), await endpoint({ events: ['run.completed'] })];
    const claim = await claimedRun();
    const facts = await fixture.store.append(claim, [started, iterationStarted(1), usage(), completed]);

    const told = facts.filter(({ type }) => type !== 'iteration.started');
    const claimed = [...(await claimAll())];
    for (const delivery of claimed) await due.recordDelivery(delivery, 200);
    for (let next = await claimAll(); next.length > 0; next = await claimAll()) {
      claimed.push(...next);
      for (const delivery of next) await due.recordDelivery(delivery, 200);
    }
    const bodies = (id: string) =>
      claimed.filter(({ endpointId }) => endpointId === id).map(({ body }) => JSON.parse(body));
    expect(bodies(all.id)).toEqual(
      told.map((fact) => ({ type: fact.type, timestamp: fact.at, account_id: accountId, agent_id: null, data: fact })),
    );
    expect(bodies(some.id).map(({ type }) => type)).toEqual(['run.completed']);
  });

  it('are none of the facts that a fork shares with its origin, which were told of that: usage counts once', async () => {
    await endpoint();
    const claim = await claimedRun();
    const iterationEnded: NewFact = {
      type: 'iteration.completed',
      iteration: 1,
      data: { iteration: 1, finish_reason: 'stop' },
    };
    const shared = [started, iterationStarted(1), reply(claim, 'One.'), usage(), iterationEnded];
    const atSeq = (await fixture.store.append(claim, shared)).at(-1)?.seq ?? 0;
    const about = { accountId, runId: claim.runId, settings };

    const { run } = await fixture.runs.fork({ ...about, atSeq, input: textInput('Otherwise.') });
    expect((await listed()).map(({ type, run_id }) => [type, run_id])).toEqual([
      ['usage.recorded', claim.runId],
      ['run.started', claim.runId],
    ]);
    const fork = await fixture.claim(run.id);
    await fixture.store.append(fork, [iterationStarted(2), usage(), completed]);

    const told = await listed({ runId: run.id });
    expect(told.map(({ type }) => type)).toEqual(['run.completed', 'usage.recorded']);
  });

  it.each([...webhookFactTypes])('the trigger in Postgres knows %s', async (type) => {
    await endpoint({ events: [type] });
    const { runId } = await claimedRun();
    const insert = `insert into run_events (run_id, seq, id, type, iteration, epoch, at, data) values ($1, 900, $2, $3, 0, 0, now(), '{}')`;
    await fixture.database.sql.query(insert, [runId, `evt_${nextId()}`, type]);

    expect(await listed()).toMatchObject([{ type, status: 'pending', attempts: 0, run_id: runId, seq: 900 }]);
  });

  it('are not written for other accounts, other facts, or a paused endpoint', async () => {
    await endpoint({ events: ['run.failed'] });
    await endpoint({ is_paused: true });
    const stranger = await newAccount(fixture.database);
    await fixture.store.append(await claimedRun(), [started, completed]);
    await fixture.store.append(await claimedRun(stranger), [started, completed]);

    expect(await listed()).toEqual([]);
    expect(await claimAll()).toEqual([]);
  });

  it('are not there when the facts are not, because the claim was lost (I3)', async () => {
    await endpoint();
    const claim = await claimedRun();
    await fixture.expireLease(claim.runId);
    await fixture.claim(claim.runId, 'worker-2');

    await expect(fixture.store.append(claim, [completed])).rejects.toThrow();
    expect(await listed()).toEqual([]);
  });

  it('are written by roles that cannot read endpoints', async () => {
    await endpoint({ events: ['run.completed'] });
    const { runId } = await claimedRun();
    await fixture.database.findUrl('summarizer');
    const role = (
      await fixture.database.sql.query<{ name: string }>(
        `select rolname as name from pg_roles where rolname like '%summarizer%' and rolname like '%' || right(current_database(), 6) || '%'`,
      )
    )[0]?.name;
    const insert = `insert into run_events (run_id, seq, id, type, iteration, epoch, at, data) values ($1, 900, $2, 'run.completed', 0, 0, now(), '{}')`;
    await fixture.database.transaction(async (sql) => {
      await sql.query(`set local role ${role ?? 'none'}`);
      await sql.query(insert, [runId, `evt_${nextId()}`]);
    });

    expect(await listed()).toHaveLength(1);
  });
});

describe('what is due', () => {
  it('is taken once, in the order of the facts of a run', async () => {
    await endpoint({ events: ['run.started', 'run.waiting', 'run.completed'] });
    const [one, other] = [await claimedRun(), await claimedRun()];
    for (const claim of [one, other]) {
      await fixture.store.append(claim, [started]);
      await fixture.store.append(claim, [completed]);
    }

    const [first, second] = await Promise.all([claimAll(), claimAll()]);
    const heads = [...first, ...second];
    expect(heads.map(({ type }) => type)).toEqual(['run.started', 'run.started']);
    expect(await claimAll()).toEqual([]);
    const [head] = heads;
    if (head) await due.recordDelivery(head, 204);
    expect((await claimAll()).map(({ type }) => type)).toEqual(['run.completed']);
  });

  it('waits behind an earlier fact that fails, and follows when that is given up', async () => {
    await endpoint({ events: ['run.started', 'run.completed'] });
    await fixture.store.append(await claimedRun(), [started, completed]);
    const head = theOnly(await claimAll());
    await due.retry(head, { error: 'The endpoint answered with status 500.', responseStatus: 500 }, 3_600_000);

    expect(await claimAll()).toEqual([]);
    await passTime();
    const again = theOnly(await claimAll());
    expect(again).toMatchObject({ id: head.id, eventId: head.eventId, body: head.body, attempts: 1 });
    await due.giveUp(again, { error: 'The endpoint answered with status 500.', responseStatus: 500 });
    expect(theOnly(await claimAll()).type).toBe('run.completed');
    expect(await listed({ status: 'dead' })).toMatchObject([
      { id: head.id, attempts: 2, response_status: 500, next_attempt_at: null },
    ]);
  });

  it('is due again when the process that took it has died, whose late outcome changes nothing', async () => {
    await endpoint({ events: ['run.completed'] });
    await fixture.store.append(await claimedRun(), [completed]);
    const taken = theOnly(await claimAll());
    await passTime();
    const again = theOnly(await claimAll());
    expect(again).toEqual(taken);
    await due.recordDelivery(again, 200);
    await due.retry(taken, { error: 'late', responseStatus: null }, 1);
    await due.giveUp(taken, { error: 'late', responseStatus: null });

    expect(await listed()).toMatchObject([{ status: 'delivered', attempts: 1, error: null }]);
    expect(await claimAll()).toEqual([]);
  });

  it('of an endpoint with many does not keep others waiting', async () => {
    const [many, few] = [await endpoint({ events: ['run.waiting'] }), await endpoint({ events: ['run.completed'] })];
    const runs = await Promise.all(Array.from({ length: 12 }, () => claimedRun()));
    for (const claim of runs) await fixture.store.append(claim, [waits]);
    await fixture.store.append(await claimedRun(), [completed]);

    const first = await claimAll([], 4);
    expect(first.map(({ endpointId }) => endpointId).sort()).toEqual(
      [many.id, many.id, many.id, many.id, few.id].sort(),
    );
    expect(await claimAll([many.id], 4)).toEqual([]);
    expect(await claimAll([], 4)).toHaveLength(4);
  });

  it('is shown with its endpoint once it was attempted, whatever waits behind it', async () => {
    const { id: endpointId } = await endpoint();
    const last = async () => {
      const [{ last_delivery: listed } = { last_delivery: null }] = (await endpoints.list({ accountId, limit: 1 }))
        .data;
      expect((await endpoints.get({ accountId, endpointId })).last_delivery).toEqual(listed);
      return listed;
    };
    expect(await last()).toBeNull();
    const { id: first } = await deliveries.createTest({ accountId, endpointId });
    expect(await last()).toMatchObject({ id: first, attempts: 0 });
    await due.retry(theOnly(await claimAll()), { error: 'No answer.', responseStatus: 503 }, 60_000);
    await deliveries.createTest({ accountId, endpointId });

    expect(await last()).toEqual(await deliveries.get({ accountId, deliveryId: first }));
    expect(await last()).toMatchObject({ status: 'pending', attempts: 1, error: 'No answer.', response_status: 503 });
  });

  it('is found for its endpoint by an index', async () => {
    const { id } = await endpoint();
    await fixture.database.sql.query(
      `insert into webhook_deliveries (id, account_id, endpoint_id, event_id, type, body, attempts)
       select 'whd_p' || n, $1, case when n % 50 = 0 then $2 else 'whe_p' || n % 50 end, 'evt_p' || n, 'webhook.test', '{}', n % 2
       from generate_series(1, 5000) as n`,
      [accountId, id],
    );
    await fixture.database.sql.query('vacuum analyze webhook_deliveries');
    const plan = await fixture.explain(
      `select ${lastDelivery} from webhook_endpoints where account_id = '${accountId}'`,
    );

    expect(plan.match(/Index Scan.* using webhook_deliveries_endpoint_id_id_idx/g)).toHaveLength(2);
    expect(plan).not.toMatch(/Seq Scan on webhook_deliveries|Sort/);
  });

  it('can be sent again under the same id, and ends with its endpoint', async () => {
    const { id: endpointId } = await endpoint({ events: ['run.completed'] });
    await fixture.store.append(await claimedRun(), [completed]);
    const sent = theOnly(await claimAll());
    await due.recordDelivery(sent, 200);
    const [delivery] = await listed();
    if (!delivery) throw new Error('nothing was delivered');
    await deliveries.redeliver({ accountId, deliveryId: delivery.id });
    expect(theOnly(await claimAll())).toEqual({ ...sent, attempts: 0 });

    await endpoints.update({ accountId, endpointId, fields: { is_paused: true } });
    const redelivered = deliveries.redeliver({ accountId, deliveryId: delivery.id });
    await expect(redelivered).rejects.toMatchObject({ code: 'webhook_endpoint_paused' });
    await endpoints.delete({ accountId, endpointId });
    expect(await listed()).toEqual([]);
  });
});

describe('the list of deliveries', () => {
  it('is filtered and paged, newest first', async () => {
    const one = await endpoint({ events: ['run.waiting', 'run.completed'] });
    await endpoint({ events: ['run.completed'] });
    const claim = await claimedRun();
    await fixture.store.append(claim, [waits]);
    await fixture.store.append(await claimedRun(), [completed]);

    const all = await listed();
    expect(all).toHaveLength(3);
    expect(all.map(({ id }) => id)).toEqual(
      all
        .map(({ id }) => id)
        .sort()
        .reverse(),
    );
    expect(await listed({ endpointId: one.id })).toEqual(all.filter(({ endpoint_id: id }) => id === one.id));
    expect(await listed({ runId: claim.runId })).toMatchObject([{ type: 'run.waiting' }]);
    expect(await listed({ type: 'run.completed' })).toHaveLength(2);
    expect(await listed({ status: 'dead' })).toEqual([]);
    const first = await deliveries.list({ accountId, limit: 2 });
    const rest = await deliveries.list({ accountId, limit: 2, after: first.next_cursor ?? '' });
    expect([...first.data, ...rest.data]).toEqual(all);
  });

  it('loses what is told of a deleted thread, except usage that is not delivered', async () => {
    await endpoint({ events: ['usage.recorded', 'run.completed'] });
    const claim = await claimedRun();
    await fixture.store.append(claim, [usage(), completed]);
    await fixture.threads.delete({ accountId, threadId: claim.threadId });
    while (await fixture.database.transaction(purgeThreads));

    expect((await listed()).map(({ type }): WebhookFactType | 'webhook.test' => type)).toEqual(['usage.recorded']);
  });

  it('keeps 30 days, and what is still pending', async () => {
    await endpoint({ events: ['run.started', 'run.completed'] });
    await fixture.store.append(await claimedRun(), [started, completed]);
    await due.recordDelivery(theOnly(await claimAll()), 200);
    await fixture.database.sql.query(`update webhook_deliveries set created_at = created_at - interval '31 days'`);

    expect(await deliveries.prune()).toBe(1);
    expect(await listed()).toMatchObject([{ type: 'run.completed' }]);
  });
});

describe('webhook endpoints', () => {
  it('are twenty at most, and their secrets two', async () => {
    const [first] = await Promise.all(Array.from({ length: 20 }, () => endpoint()));
    await expect(endpoint()).rejects.toMatchObject({ code: 'too_many_webhook_endpoints' });

    const address = { accountId, endpointId: first?.id ?? webhookEndpointId.parse('whe_none') };
    const secret = (hint: string) => ({ sealed: hint, hint, created_at: new Date().toISOString(), expires_at: null });
    await endpoints.rotate(address, secret('two2'), new Date('2030-01-01'));
    const { secrets } = await endpoints.rotate(address, secret('thre'), new Date('2031-01-01'));
    expect(secrets).toMatchObject([
      { hint: 'thre', expires_at: null },
      { hint: 'two2', expires_at: '2031-01-01T00:00:00.000Z' },
    ]);
  });
});
