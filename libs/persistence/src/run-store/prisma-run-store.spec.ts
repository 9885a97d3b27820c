import { describeRunStore } from '@rondo/domain/testing';
import { StoreHouse } from '../testing/store-house';

let house: StoreHouse;
beforeAll(async () => {
  house = await StoreHouse.open();
});
afterAll(() => house.close());

describeRunStore('PrismaRunStore', async () => {
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
