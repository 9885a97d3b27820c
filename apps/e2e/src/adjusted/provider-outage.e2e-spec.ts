import type { RondoClient, RunningRondo } from '@rondo/test-deployment';
import { startAdjusted, newAccount } from '../shared-deployment';

describe('runs whose provider is away', () => {
  let rondo: RunningRondo;
  let client: RondoClient;

  beforeAll(async () => {
    rondo = await startAdjusted();
    client = await newAccount(rondo);
  });

  it('wait for it as long as their deployment allows, and tell how often they asked', async () => {
    expect(await rondo.violations()).toEqual([]); // it forgets those of earlier specs
    const provider = rondo.services.get('demo-model');
    await provider.stop();
    const run = await client.createRun({ model: 'demo/plain', input: 'Greet me.' });
    await client.waitForEvent(run.id, 'model.retried', 3); // by default the third attempt is the last
    await provider.start();

    expect(await client.waitForRun(run.id)).toMatchObject({ status: 'completed' });
    const retries = (await client.facts(run.id)).filter(({ type }) => type === 'model.retried');
    expect(retries.length).toBeGreaterThanOrEqual(3);
    expect(retries.map(({ data }) => data['attempt'])).toEqual(retries.map((_, index) => index + 1));
  });
});
