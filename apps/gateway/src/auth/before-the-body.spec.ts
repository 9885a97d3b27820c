import { RunningGateway, adminKey } from '../testing/running-gateway';
import { answerBeforeBody } from '../testing/unsent-body';

const gateway = RunningGateway.forSuite({ RATE_LIMIT_PER_SECOND: 1 });

const bytes = 90_000;

describe('attack: public API', () => {
  it('a body that is announced without a key', async () => {
    const { status } = await answerBeforeBody(gateway.url, { path: '/v1/runs', bytes });
    expect(status).toBe(401);
  });

  it.each([
    ['read', '/v1/runs'],
    ['write', '/v1/api-keys'],
    ['admin', '/v1/admin/accounts'],
  ])('a body of a key with the scope %s, for POST %s', async (scope, path) => {
    const key = await gateway.toKey(`with ${scope}`, [scope]);
    const { status, body } = await answerBeforeBody(gateway.url, { path, key, bytes });
    expect(status).toBe(403);
    expect(body).toContain('forbidden');
  });

  it('a body of a key that has used up its rate', async () => {
    const key = await gateway.toKey('hasty', ['write']);
    for (let times = 0; times < 2; times += 1) await gateway.as(key).get('/v1/runs').expect(200);
    const { status, head } = await answerBeforeBody(gateway.url, { path: '/v1/runs', key, bytes });
    expect(status).toBe(429);
    expect(head).toMatch(/Retry-After: 1/i);
  });

  it('a body that is announced longer than any that is read', async () => {
    const { status } = await answerBeforeBody(gateway.url, { path: '/v1/runs', key: adminKey, bytes: 1e12 });
    expect(status).toBe(413);
  });

  it('a body for a path that does not exist', async () => {
    const { status } = await answerBeforeBody(gateway.url, { path: '/v1/nothing', key: adminKey, bytes });
    expect(status).toBe(404);
  });

  it('a body without end to an address that answers without reading it', async () => {
    const endless = fetch(`${gateway.url}/v1/runs`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(1024 * 1024)) }),
      duplex: 'half',
    });
    await expect(endless.then((response) => response.status)).resolves.toBe(401);
    await gateway.anonymous.get('/health/live').expect(200);
  });
});
