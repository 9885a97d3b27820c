import { createHmac } from 'node:crypto';
import { verifyWebhook } from './webhooks.ts';

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const body = '{"test": 2432232314}';
const now = Math.floor(Date.now() / 1000);

const sign = (text: string, key = secret): string =>
  createHmac('sha256', Buffer.from(key.slice(6), 'base64'))
    .update(text)
    .digest('base64');

function request({
  timestamp = String(now),
  content = body,
  signature = `v1,${sign(`msg_1.${timestamp}.${body}`)}`,
} = {}) {
  const headers = { 'webhook-id': 'msg_1', 'webhook-timestamp': timestamp, 'webhook-signature': signature };
  return new Request('http://localhost/hook', { method: 'POST', body: content, headers });
}

describe('verifyWebhook', () => {
  it('returns the body of a request that this secret signed', async () => {
    expect(await verifyWebhook(request(), { secrets: secret })).toBe(body);
  });

  it('agrees with the example of the specification', async () => {
    const timestamp = '1614265330';
    const signature = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=';
    const headers = { 'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek', 'webhook-timestamp': timestamp };
    const given = new Request('http://localhost/hook', {
      method: 'POST',
      body,
      headers: { ...headers, 'webhook-signature': signature },
    });
    expect(await verifyWebhook(given, { secrets: secret, toleranceS: Infinity })).toBe(body);
  });

  it('accepts one of several signatures by one of several secrets', async () => {
    const signature = `v1a,xx v1,aaaa v1,${sign(`msg_1.${now}.${body}`)}`;
    expect(await verifyWebhook(request({ signature }), { secrets: ['whsec_AAAA', secret] })).toBe(body);
  });

  it.each([
    [
      'another secret',
      request({ signature: `v1,${sign(`msg_1.${now}.${body}`, 'whsec_AAAA')}` }),
      'not from this secret',
    ],
    ['another body', request({ content: '{}' }), 'not from this secret'],
    ['no base64', request({ signature: 'v1,§§§' }), 'not from this secret'],
    ['an old time', request({ timestamp: String(now - 3_600) }), 'too old'],
    ['a time to come', request({ timestamp: String(now + 3_600) }), 'too old'],
    ['no time', request({ timestamp: 'today' }), 'not signed'],
  ])('refuses %s', async (_, given, message) => {
    await expect(verifyWebhook(given, { secrets: secret })).rejects.toThrow(message);
  });
});
