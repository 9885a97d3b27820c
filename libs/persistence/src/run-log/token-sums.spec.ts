import { maxTokenSum } from '@rondo/contract';
import fc from 'fast-check';
import { StoreFixture, usage } from '../testing/store-fixture';

let fixture: StoreFixture;
beforeAll(async () => {
  fixture = await StoreFixture.open();
});
afterAll(() => fixture.close());

const used = (tokens: number) =>
  usage({ input_tokens: tokens, cached_tokens: tokens, output_tokens: tokens, cost_usd: 0 });

const mostOfCall = 2 ** 31 - 1;

describe('sums of tokens', () => {
  it('are exact past 2^31, in numbers, however the calls are grouped', async () => {
    const anyBills = fc.array(
      fc.array(fc.oneof(fc.nat(1_000), fc.integer({ min: 2 ** 30, max: mostOfCall })), { minLength: 1, maxLength: 3 }),
      {
        minLength: 1,
        maxLength: 4,
      },
    );

    await fc.assert(
      fc.asyncProperty(anyBills, async (groups) => {
        const claim = await fixture.claimed();
        for (const group of groups) await fixture.store.append(claim, group.map(used));

        const sum = groups.flat().reduce((total, tokens) => total + tokens, 0);
        const { usage: told } = await fixture.runs.get({ accountId: fixture.accountId, runId: claim.runId });
        expect([told.input_tokens, told.cached_tokens, told.output_tokens]).toEqual([sum, sum, sum]);
      }),
      { numRuns: 15, examples: [[[[mostOfCall, mostOfCall], [mostOfCall]]]] },
    );
  });

  it('stop where numbers no longer count by ones, and the run goes on', async () => {
    const claim = await fixture.claimed();
    await fixture.database.sql.query('update runs set input_tokens = $2 where id = $1', [claim.runId, maxTokenSum - 5]);

    await fixture.store.append(claim, [used(3)]);
    await fixture.store.append(claim, [used(100)]);

    const { usage: told } = await fixture.runs.get({ accountId: fixture.accountId, runId: claim.runId });
    expect(told).toMatchObject({ input_tokens: maxTokenSum, output_tokens: 103 });
  });

  it('are what a bill of the largest call adds to, not what refuses it', async () => {
    const claim = await fixture.claimed();

    await fixture.store.append(claim, [used(mostOfCall)]);

    const entries = await fixture.database.prisma.usageEntry.findMany({ where: { runId: claim.runId } });
    expect(entries.map(({ inputTokens }) => inputTokens)).toEqual([mostOfCall]);
  });
});
