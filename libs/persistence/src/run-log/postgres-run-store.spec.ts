import { describeRunStore } from '@rondo/domain/testing';
import { StoreFixture } from '../testing/store-fixture';

let house: StoreFixture;
beforeAll(async () => {
  house = await StoreFixture.open();
});
afterAll(() => house.close());

describeRunStore('PostgresRunStore', async () => {
  const { store, compactions, accountId } = house;
  const { run } = await house.create();
  return {
    store,
    compactions,
    runId: run.id,
    expireLease: () => house.expireLease(run.id),
    requestStop: async () => {
      await house.runs.requestStop({ accountId, runId: run.id, reason: null });
    },
  };
});
