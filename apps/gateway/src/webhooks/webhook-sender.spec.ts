import type { ServerResponse } from 'node:http';
import type { DueDelivery } from '@rondo/persistence';
import { OutboundProxy, SecretBox } from '@rondo/platform';
import { ConnectProxy } from '@rondo/platform/testing';
import { WebhookReceiverServer } from '../testing/webhook-receiver';
import { newWebhookSecret } from '../triggers/webhook-signature';
import { type EndpointRules, endpointDestination, findUrlProblem } from './endpoint-destination';
import { WebhookSender, endpointSecretPurpose } from './webhook-sender';

const box = new SecretBox(Buffer.alloc(32, 7).toString('base64'), 'webhooks');
const never = new AbortController().signal;
const delivery: DueDelivery = {
  ...{ id: 'whd_1', accountId: 'acc_1', endpointId: 'whe_1', eventId: 'evt_1', type: 'run.completed' },
  ...{ body: '{"type" : "run.completed"}', attempts: 0, endpoint: undefined },
};
const [newest, former, expired] = [newWebhookSecret(), newWebhookSecret(), newWebhookSecret()];
const sealed = (secret: string, expiresAt: string | null = null) => ({
  sealed: box.seal(secret, endpointSecretPurpose('acc_1', 'whe_1')),
  ...{ hint: 'hint', created_at: new Date().toISOString(), expires_at: expiresAt },
});

let receiver: WebhookReceiverServer;
let canary: WebhookReceiverServer;
let rules: EndpointRules;
beforeEach(async () => {
  [receiver, canary] = [await WebhookReceiverServer.start(), await WebhookReceiverServer.start()];
  rules = {
    resolve: () => Promise.resolve(['127.0.0.1']),
    isAllowed: () => false,
    internalHosts: [receiver.host],
    resolveInternal: () => Promise.resolve(['127.0.0.1']),
  };
});
afterEach(async () => {
  expect(canary.received).toEqual([]);
  await Promise.all([receiver.close(), canary.close()]);
});

const send = (
  url = receiver.url,
  { timeoutMs = 20_000, signal = never, secrets = [sealed(newest)], keys = true } = {},
) =>
  new WebhookSender({ admit: endpointDestination(rules), secrets: keys ? box : undefined, timeoutMs }).send(
    delivery,
    { url, secrets, isPaused: false },
    signal,
  );

describe('sending a webhook', () => {
  it('posts the body as it is, signed by every secret that is valid', async () => {
    const [future, past] = [Date.now() + 3_600_000, Date.now() - 1].map((at) => new Date(at).toISOString());
    const secrets = [sealed(newest), sealed(former, future), sealed(expired, past)];
    expect(await send(receiver.url, { secrets })).toEqual({ how: 'delivered', responseStatus: 204 });

    const [request] = receiver.received;
    expect(request).toMatchObject({ id: 'evt_1', body: delivery.body });
    expect([newest, former, expired].map((secret) => request?.isSignedBy(secret))).toEqual([true, true, false]);
  });

  it.each([
    [500, { how: 'failed', responseStatus: 500, error: 'The endpoint answered with status 500.' }],
    [410, { how: 'gone', responseStatus: 410, error: 'The endpoint answered with status 410: gone.' }],
    [201, { how: 'delivered', responseStatus: 201 }],
  ])('takes status %i for what it says', async (status, attempt) => {
    receiver.answer = (response) => response.writeHead(status).end();
    expect(await send()).toEqual(attempt);
  });

  it('says why no answer came', async () => {
    receiver.answer = (response) => response.destroy();
    expect(await send()).toMatchObject({ how: 'failed', error: expect.stringMatching(/broke off before it answered/) });
    const { host } = receiver;
    await receiver.close();
    expect(await send(`http://${host}/`)).toMatchObject({ error: 'The endpoint could not be reached (ECONNREFUSED).' });
    receiver = await WebhookReceiverServer.start();
  });

  it('says that a secret cannot be opened', async () => {
    for (const given of [{ secrets: [{ ...sealed(newest), sealed: 'v1.x' }] }, { keys: false }])
      expect(await send(receiver.url, given)).toMatchObject({ error: expect.stringMatching(/SECRETS_KEY/) });
    expect(receiver.received).toEqual([]);
  });

  it('breaks off when the gateway closes', async () => {
    const closing = new AbortController();
    receiver.answer = () => closing.abort();
    expect(await send(receiver.url, { signal: closing.signal })).toBe('aborted');
  });
});

describe('attack: webhook endpoints', () => {
  it('at private addresses are not connected to', async () => {
    for (const url of [canary.url, `https://${canary.host}/`, 'http://169.254.169.254/latest', 'https://[::1]/'])
      expect(await send(url)).toMatchObject({ how: 'failed', error: 'The endpoint is not at a public address.' });
  });

  it('are not stored with a private address, without TLS, or with a password', async () => {
    const problem = 'must be at a public address';
    for (const url of [
      'https://10.0.0.1/',
      'https://2130706433/',
      'https://[::ffff:127.0.0.1]/',
      'https://rebinding.example/',
    ])
      expect(await findUrlProblem(url, rules)).toBe(problem);
    expect(await findUrlProblem('http://example.com/', rules)).toMatch(/https/);
    expect(await findUrlProblem('https://me:secret@example.com/', rules)).toMatch(/password/);
    expect(await findUrlProblem(receiver.url, rules)).toBeUndefined();
    const unresolved = { ...rules, resolve: () => Promise.reject(new Error('no name server')) };
    expect(await findUrlProblem('https://later.example/', unresolved)).toBeUndefined();
  });

  it('that redirect lead nowhere', async () => {
    receiver.answer = (response) => response.writeHead(307, { location: canary.url }).end();
    expect(await send()).toMatchObject({
      responseStatus: 307,
      error: 'The endpoint answered with status 307; redirects are not followed.',
    });
  });

  it('with an answer that never ends: its body is not read', async () => {
    const ended = new Promise((resolve) => {
      receiver.answer = (response) => {
        response.on('close', resolve).writeHead(200);
        pour(response);
      };
    });
    expect(await send()).toEqual({ how: 'delivered', responseStatus: 200 });
    await ended;
  });

  it('that answer a byte at a time are left', async () => {
    const ended = new Promise((resolve) => {
      receiver.answer = (response) => {
        response.socket?.on('close', resolve).write('HTTP/1.1 2');
      };
    });
    expect(await send(receiver.url, { timeoutMs: 300 })).toMatchObject({
      how: 'failed',
      error: 'The endpoint did not answer within 0.3 s.',
    });
    await ended;
  });

  it('with endless headers are left', async () => {
    receiver.answer = (response) => response.socket?.write(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(1_000_000)}`);
    expect(await send()).toMatchObject({ how: 'failed', responseStatus: null });
  });
});

function pour(response: ServerResponse): void {
  if (!response.destroyed) response.write(Buffer.alloc(65_536), () => pour(response));
}

describe('with a proxy, a webhook', () => {
  let proxy: ConnectProxy;
  beforeEach(async () => {
    proxy = await ConnectProxy.start({ 'hooks.invalid:80': Number(receiver.host.split(':')[1]) });
    rules = { ...rules, proxy: OutboundProxy.from({ HTTP_PROXY: proxy.url, NO_PROXY: 'near.invalid' }) };
  });
  afterEach(() => proxy.stop());

  it('leaves through it, unless the endpoint is an internal host', async () => {
    expect(await send('http://hooks.invalid/hook')).toEqual({ how: 'delivered', responseStatus: 204 });
    expect(await send()).toEqual({ how: 'delivered', responseStatus: 204 });
    expect(proxy.asked).toEqual(['hooks.invalid:80']);
  });

  it('is not asked for what is private by its form, and its refusal is a failure that may pass', async () => {
    for (const url of ['http://10.0.0.7/', 'http://billing.internal/', 'http://near.invalid/'])
      expect(await send(url)).toMatchObject({ how: 'failed' });
    expect(proxy.asked).toEqual([]);
    expect(await send('http://other.invalid/')).toMatchObject({ how: 'failed', responseStatus: null });
    expect(proxy.asked).toEqual(['other.invalid:80']);
  });
});
