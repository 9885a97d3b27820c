import { RunningGateway, adminKey } from '../testing/running-gateway';

const gateway = RunningGateway.forSuite();

const facade = '/ai-sdk/chat/any/stream';

describe('a key in x-api-key', () => {
  it('is taken on routes of façades, and nowhere else', async () => {
    await gateway.anonymous.get(facade).set('x-api-key', adminKey).expect(204);
    await gateway.anonymous.get('/v1/runs').set('x-api-key', adminKey).expect(401);
    await gateway.anonymous.get('/ai-sdk-else').set('x-api-key', adminKey).expect(404);
  });

  it('may be the one in Authorization, and no other', async () => {
    await gateway.as().get(facade).set('x-api-key', adminKey).expect(204);
    const { text } = await gateway.as().get(facade).set('x-api-key', 'rondo_other').expect(400);
    expect(text).toContain('x-api-key');
    await gateway.anonymous.get(facade).set('x-api-key', 'rondo_other').expect(401);
  });
});
