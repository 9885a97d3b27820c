import { Client } from 'pg';
import { grantScaler } from '../../../../deploy/local/servers/roles.mjs';
import { StoreFixture, completed, started, waits } from '../testing/store-fixture';

let fixture: StoreFixture;
let scaler: Client;
beforeAll(async () => {
  fixture = await StoreFixture.open();
  const url = new URL(fixture.database.url);
  await grantScaler({ url: url.href, password: 'of-a-test' });
  url.username = `${url.pathname.slice(1)}_scaler`;
  url.password = 'of-a-test';
  scaler = new Client({ connectionString: url.href });
  await scaler.connect();
});
afterAll(async () => {
  await scaler.end();
  await fixture.close();
});

const toServe = async (): Promise<unknown> => (await scaler.query('select runs from runs_to_serve')).rows;

describe('what an autoscaler reads', () => {
  it('is how many runs are due or held, and none that waits, is over or comes after another', async () => {
    expect(await toServe()).toEqual([{ runs: 0 }]);
    const { run: due } = await fixture.create({});
    await fixture.create({ threadId: due.thread_id, onActiveRun: 'queue' });
    const held = await fixture.claim((await fixture.create({})).run.id);
    const waiting = await fixture.claim((await fixture.create({})).run.id);
    const over = await fixture.claim((await fixture.create({})).run.id);
    expect(await toServe()).toEqual([{ runs: 4 }]);

    await fixture.store.append(held, [started]);
    await fixture.store.append(waiting, [started, waits]);
    await fixture.store.append(over, [started, completed]);

    expect(await toServe()).toEqual([{ runs: 2 }]);
  });

  it.each(['runs', 'accounts', 'run_events', 'api_keys'])('is all that it may read: not %s', async (table) => {
    await expect(scaler.query(`select * from ${table}`)).rejects.toThrow(`permission denied for table ${table}`);
  });
});
