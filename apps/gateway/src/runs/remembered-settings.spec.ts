import { AccountQuotas } from '../billing/account-quotas';
import { RunningGateway } from '../testing/running-gateway';
import { RunSettingsResolver } from '../settings/run-settings';

let gateway: RunningGateway;
let other: RunningGateway;
beforeAll(async () => {
  gateway = await RunningGateway.start();
  other = await RunningGateway.start({ DATABASE_URL: gateway.parts.config.DATABASE_URL });
});
afterAll(async () => {
  await other.close();
  await gateway.close();
});
afterEach(() => jest.restoreAllMocks());

/** A gateway that remembers the settings of the account. */
async function remembering(name: string) {
  const key = await gateway.toKey(name);
  await gateway.createRun({ input: 'Go.' }, key);
  const change = (settings: object) => other.as(key).put('/v1/settings').send({ settings }).expect(200);
  const create = (body: object = {}) =>
    gateway
      .as(key)
      .post('/v1/runs')
      .send({ input: 'Go.', ...body });
  return { change, create };
}

describe('a run of an account whose settings were changed at another gateway', () => {
  it('counts once in the quotas of the account', async () => {
    const { change, create } = await remembering('counting');
    const within = jest.spyOn(AccountQuotas.prototype, 'within');
    await change({ model: 'demo/plain' });

    const { body } = await create().expect(202);

    expect(body.model).toBe('demo/plain');
    expect(within.mock.calls.filter(([, amounts]) => 'threads' in amounts)).toHaveLength(1);
  });

  it('is refused for what is there, and prepared again only if that has changed', async () => {
    const { change, create } = await remembering('refused');
    const prepare = jest.spyOn(RunSettingsResolver.prototype, 'toSettings');

    await create({ model: 'unknown/model' }).expect(422);
    expect(prepare).toHaveBeenCalledTimes(1);
    await change({ model: 'demo/plain' });
    await create({ model: 'unknown/model' }).expect(422);

    expect(prepare).toHaveBeenCalledTimes(3);
  });
});
