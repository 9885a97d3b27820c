import { setTimeout as delay } from 'node:timers/promises';
import type { WebhookDelivery } from '@rondo/contract';
import { RunningGateway } from '../testing/running-gateway';
import { TestWorker } from '../testing/test-worker';
import { WebhookReceiverServer } from '../testing/webhook-receiver';
import { retryPausesMs } from './webhook-dispatcher';

let receiver: WebhookReceiverServer;
let gateway: RunningGateway;
let worker: TestWorker;
let key: string;
beforeAll(async () => {
  receiver = await WebhookReceiverServer.start();
  gateway = await RunningGateway.start({
    SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
    WEBHOOK_INTERNAL_HOSTS: [receiver.host],
  });
  worker = await TestWorker.start(gateway.database);
});
beforeEach(async () => {
  key = await gateway.toKey('an account');
  receiver.received.length = 0;
  receiver.answer = (response) => response.writeHead(204).end();
});
afterAll(async () => {
  await worker.close();
  await gateway.close();
  await receiver.close();
});

interface Endpoint {
  readonly id: string;
  readonly secret: string;
}

const made = async (fields: object = {}): Promise<Endpoint> =>
  (
    await gateway
      .as(key)
      .post('/v1/webhooks')
      .send({ url: receiver.url, events: ['run.started', 'run.completed'], ...fields })
      .expect(201)
  ).body as Endpoint;

const deliveries = async (query = ''): Promise<WebhookDelivery[]> =>
  ((await gateway.as(key).get(`/v1/webhooks/deliveries${query}`).expect(200)).body as { data: WebhookDelivery[] }).data;

async function until(reached: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await reached())) await delay(10);
}

async function finishedRun(): Promise<string> {
  const { id } = await gateway.createRun(undefined, key);
  await (await worker.claim(id)).complete();
  return id;
}

/** What is pending is due now, as if its pause had passed. */
const passPause = () =>
  gateway.ownerDatabase.sql.query(`update webhook_deliveries set next_attempt_at = now() where status = 'pending'`);

describe('webhooks to an endpoint', () => {
  it('tell what happens to runs, in order, signed', async () => {
    const { secret } = await made();
    const run = await finishedRun();
    await until(async () => (await deliveries('?status=delivered')).length === 2);

    expect(receiver.received.map(({ type }) => type)).toEqual(['run.started', 'run.completed']);
    expect(receiver.received.map(({ isSignedBy }) => isSignedBy(secret))).toEqual([true, true]);
    const { body: log } = await gateway.as(key).get(`/v1/runs/${run}/events`).expect(200);
    for (const { id, body } of receiver.received)
      expect(JSON.parse(body).data).toEqual((log.data as { id: string }[]).find((fact) => fact.id === id));
    expect(await deliveries(`?run_id=${run}`)).toMatchObject([
      { type: 'run.completed', status: 'delivered', attempts: 1, response_status: 204, error: null },
      { type: 'run.started', status: 'delivered' },
    ]);
  });

  it('are signed by both secrets while they change', async () => {
    const { id, secret } = await made();
    const rotate = async (overlap_s: number) =>
      (await gateway.as(key).post(`/v1/webhooks/${id}/rotate-secret`).send({ overlap_s }).expect(200)).body.secret;
    const second = await rotate(3_600);
    const test = async () => {
      await gateway.as(key).post(`/v1/webhooks/${id}/test`).send({}).expect(202);
      await until(async () => (await deliveries('?status=pending')).length === 0);
      const request = receiver.received.at(-1);
      return [secret, second].map((one) => request?.isSignedBy(one));
    };
    expect(await test()).toEqual([true, true]);
    const third: string = await rotate(0);
    expect(await test()).toEqual([false, false]);
    expect(receiver.received.at(-1)?.isSignedBy(third)).toBe(true);
    expect(receiver.received.map(({ type }) => type)).toEqual(['webhook.test', 'webhook.test']);
  });

  it('are given up after a day of errors, say why, and are sent again on request', async () => {
    await made({ events: ['run.completed'] });
    receiver.answer = (response) => response.writeHead(500).end();
    await finishedRun();
    for (let attempt = 1; attempt <= retryPausesMs.length + 1; attempt += 1) {
      await until(async () => (await deliveries())[0]?.attempts === attempt);
      await passPause();
    }

    const [dead] = await deliveries('?status=dead');
    expect(dead).toMatchObject({
      status: 'dead',
      attempts: retryPausesMs.length + 1,
      next_attempt_at: null,
      response_status: 500,
      error: 'The endpoint answered with status 500.',
    });
    expect(receiver.received).toHaveLength(retryPausesMs.length + 1);
    receiver.answer = (response) => response.writeHead(200).end();
    const again = await gateway.as(key).post(`/v1/webhooks/deliveries/${dead?.id}/redeliver`).send({}).expect(202);
    expect(again.body).toMatchObject({ id: dead?.id, status: 'pending', attempts: 0 });
    await until(async () => (await deliveries())[0]?.status === 'delivered');
    expect(new Set(receiver.received.map(({ id }) => id))).toEqual(new Set([dead?.event_id]));
    expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1);
  });

  it('come in order although the first fails, and to each endpoint on its own', async () => {
    await made();
    let failures = 0;
    receiver.answer = (response, { type }) => {
      const fails = type === 'run.started' && (failures += 1) === 1;
      response.writeHead(fails ? 503 : 204).end();
    };
    await finishedRun();
    await until(async () => (await deliveries()).some(({ attempts }) => attempts === 1));
    await passPause();
    await until(async () => (await deliveries('?status=delivered')).length === 2);

    expect(receiver.received.map(({ type }) => type)).toEqual(['run.started', 'run.started', 'run.completed']);
  });

  it('end with what says that it is gone, or is paused', async () => {
    const { id } = await made({ events: ['run.completed'] });
    receiver.answer = (response) => response.writeHead(410).end();
    await finishedRun();
    await until(async () => (await deliveries('?status=dead')).length === 1);
    receiver.answer = (response) => response.writeHead(500).end();
    await finishedRun();
    await until(async () => (await deliveries('?status=pending'))[0]?.attempts === 1);
    await gateway.as(key).patch(`/v1/webhooks/${id}`).send({ is_paused: true }).expect(200);
    expect(await deliveries('?status=pending')).toEqual([]); // at once
    await finishedRun();
    await passPause();
    await until(async () => (await deliveries('?status=pending')).length === 0);

    expect(await deliveries()).toMatchObject([
      { status: 'dead', error: 'The endpoint was paused.' },
      { status: 'dead', error: 'The endpoint answered with status 410: gone.' },
    ]);
    const { body } = await gateway
      .as(key)
      .post(`/v1/webhooks/deliveries/${(await deliveries())[0]?.id}/redeliver`)
      .send({})
      .expect(409);
    expect(body.code).toBe('webhook_endpoint_paused');
  });
});

describe('a gateway that shuts down', () => {
  it('breaks off what is not answered, and leaves it to others at once', async () => {
    const leaving = await RunningGateway.start({
      SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
      WEBHOOK_INTERNAL_HOSTS: [receiver.host],
    });
    receiver.answer = () => undefined;
    const { body: endpoint } = await leaving
      .as()
      .post('/v1/webhooks')
      .send({ url: receiver.url, events: ['run.completed'] })
      .expect(201);
    for (let sent = 1; sent <= 20; sent += 1)
      await leaving.as().post(`/v1/webhooks/${endpoint.id}/test`).send({}).expect(202);
    await until(() => receiver.received.length >= 8);
    await leaving.parts.webhooks.stop();

    const due = `select id from webhook_deliveries where status = 'pending' and attempts = 0 and next_attempt_at <= now()`;
    expect(await leaving.ownerDatabase.sql.query(due)).toHaveLength(20);
    await leaving.close();
  });
});

describe('a webhook endpoint', () => {
  it('shows its secret once, and keeps it sealed', async () => {
    const { secret, ...endpoint } = await made();
    const path = `/v1/webhooks/${endpoint.id}`;

    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect((await gateway.as(key).get(path).expect(200)).body).toEqual(endpoint);
    expect((await gateway.as(key).get('/v1/webhooks').expect(200)).body.data).toEqual([endpoint]);
    const rows = await gateway.ownerDatabase.sql.query('select * from webhook_endpoints where id = $1', [endpoint.id]);
    expect(JSON.stringify(rows)).not.toContain(secret.slice(6));
  });

  it('is changed and deleted, which the audit log has', async () => {
    const { id } = await made();
    const path = `/v1/webhooks/${id}`;
    const { body } = await gateway.as(key).patch(path).send({ description: 'alerts' }).expect(200);
    expect(body).toMatchObject({ description: 'alerts', url: receiver.url });
    await gateway.as(key).delete(path).expect(204);
    await gateway.as(key).get(path).expect(404);

    const { data } = (await gateway.as(key).get('/v1/audit').expect(200)).body as { data: { action: string }[] };
    expect(data.map(({ action }) => action)).toEqual(['webhook.delete', 'webhook.change', 'webhook.create']);
  });

  it.each([
    ['url', { url: 'https://127.0.0.1/' }],
    ['url', { url: 'https://169.254.169.254/latest/meta-data' }],
    ['url', { url: 'http://example.com/' }],
    ['url', { url: 'ftp://example.com/' }],
    ['events', { events: [] }],
    ['events', { events: ['run.completed', 'run.completed'] }],
    ['events', { events: ['message.created'] }],
    ['secret', { secret: 'whsec_mine' }],
  ])('is refused with the name of the wrong field: %s', async (field, fields) => {
    const body = { url: receiver.url, events: ['run.completed'], ...fields };
    const { body: problem } = await gateway.as(key).post('/v1/webhooks').send(body).expect(422);
    expect(JSON.stringify(problem.errors)).toContain(field);
  });

  it('is refused without SECRETS_KEY', async () => {
    const other = await RunningGateway.start({ WEBHOOK_INTERNAL_HOSTS: [receiver.host] });
    const { body } = await other
      .as()
      .post('/v1/webhooks')
      .send({ url: receiver.url, events: ['run.completed'] })
      .expect(422);
    await other.close();
    expect(JSON.stringify(body.errors)).toContain('SECRETS_KEY');
  });
});
