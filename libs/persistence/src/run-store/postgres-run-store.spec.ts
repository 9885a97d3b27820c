import { describeRunStore } from '@rondo/domain/testing';
import { StoreFixture } from '../testing/store-fixture';

let fixture: StoreFixture;
beforeAll(async () => {
  fixture = await StoreFixture.open();
});
afterAll(() => fixture.close());

describeRunStore('PostgresRunStore', async () => {
  const { store, compactions, accountId } = fixture;
  const { run } = await fixture.create();
  return {
    store,
    compactions,
    runId: run.id,
    expireLease: () => fixture.expireLease(run.id),
    requestStop: async () => {
      await fixture.runs.requestStop({ accountId, runId: run.id, reason: null });
    },
  };
});
