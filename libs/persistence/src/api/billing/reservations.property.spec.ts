import { type AccountId, type NewFact, type RunId, modelCallId } from '@rondo/contract';
import { type AccountTier, type ClaimedRun, ClaimLostError } from '@rondo/domain';
import fc from 'fast-check';
import { PostgresRunStore } from '../../run-store/postgres-run-store';
import { StoreFixture, completed, newAccount, nextId } from '../../testing/store-fixture';
import { Balances } from './balances';
import { Reservations } from './reservations';

/** Costs and reservations in cents, so that sums can be compared exactly. */
interface Step {
  /**
   * `call`: reserve, ask the model, settle. `continue`: the same twice, for one reply. `die`: killed between the two.
   * `release`: handed over between the two. After these, the next claim may record what the call has cost.
   */
  /** `factor`: the account pays by another factor from now on. */
  readonly how: 'call' | 'continue' | 'die' | 'release' | 'sweep' | 'credit' | 'factor';
  readonly reserved: number;
  readonly cost: number;
}

const tier: AccountTier & { usd: number } = { name: 'free', usd: 1, period: 'month' };
const creditCents = 10;

/** Of the tier, and the highest of an account. Reservations are made for that one, whatever the account has meanwhile. */
const settlesAt = { usual: 1, tiers: { free: 0.75 } };
const highestFactor = 1.5;

let fixture: StoreFixture;
let balances: Balances;
let reservations: Reservations;
beforeAll(async () => {
  fixture = await StoreFixture.open();
  balances = new Balances(fixture.database, nextId);
  reservations = new Reservations(fixture.database);
});
afterAll(() => fixture.close());

/** A worker of its own for each run, as far apart as processes are: only Postgres is shared. */
const newStore = () => new PostgresRunStore({ database: fixture.database, newId: nextId, settlesAt });

const usage = (cents: number, finish_reason = 'stop'): NewFact => ({
  type: 'usage.recorded',
  iteration: 1,
  data: {
    ...{ model_call_id: modelCallId.parse(`mdl_${nextId()}`), model: 'demo/coder', finish_reason },
    ...{ input_tokens: 1, cached_tokens: 0, output_tokens: 1, cost_usd: cents / 100, estimated: false },
    ...{ duration_ms: 1, first_token_ms: null },
  },
});

/** One run, and who holds it. */
class HeldRun {
  private readonly store = newStore();
  private claim: ClaimedRun | undefined;
  credits = 0;
  settledCents = 0;

  constructor(
    private readonly accountId: AccountId,
    private readonly runId: RunId,
  ) {}

  async take({ how, reserved, cost }: Step): Promise<void> {
    if (how === 'credit') return this.giveCredit();
    if (how === 'factor') {
      const priceFactor = cost % 2 === 0 ? undefined : highestFactor;
      return balances.setTier({ accountId: this.accountId, tier, priceFactor });
    }
    if (how === 'sweep') {
      await reservations.releaseAbandoned();
      return;
    }
    const claim = (this.claim ??= await this.claimed());
    const order = { claim, usd: (reserved * highestFactor) / 100, limit: tier };
    if ((await reservations.reserve(order)) !== 'granted') return;
    if (how === 'die' || how === 'release') return this.lose(claim, { how, cost });
    const next = { ...order, usd: ((reserved + cost) * highestFactor) / 100 };
    if (how === 'continue' && (await reservations.reserve(next)) === 'granted') {
      await this.settle(claim, cost, 'continued');
    }
    await this.settle(claim, cost, 'stop');
  }

  async end(): Promise<void> {
    await this.store.append((this.claim ??= await this.claimed()), [completed]);
  }

  private async settle(claim: ClaimedRun, cents: number, finishReason: string): Promise<void> {
    await this.store.append(claim, [usage(cents, finishReason)]);
    this.settledCents += cents;
  }

  /** A late write of the former holder is refused, whatever it had reserved. A part of every second reply is stored. */
  private async lose(claim: ClaimedRun, { how, cost }: Pick<Step, 'how' | 'cost'>): Promise<void> {
    if (how === 'die') await fixture.expireLease(this.runId);
    else await this.store.handOver(claim);
    this.claim = await this.claimed();
    await expect(this.store.append(claim, [usage(100)])).rejects.toThrow(ClaimLostError);
    await expect(reservations.reserve({ claim, usd: 0.01, limit: tier })).rejects.toThrow(ClaimLostError);
    if (cost % 2 === 0) await this.settle(this.claim, cost, 'broken');
  }

  private async claimed(): Promise<ClaimedRun> {
    const claim = await this.store.claim(this.runId, `worker-${nextId()}`);
    if (!claim) throw new Error(`${this.runId} could not be claimed`);
    return claim;
  }

  private async giveCredit(): Promise<void> {
    const { accountId } = this;
    await balances.give({ accountId, usd: creditCents / 100, reason: 'test', givenBy: 'key_1', toLimit: () => tier });
    this.credits += 1;
  }
}

interface Ledger {
  readonly reserved: number;
  readonly reservations: number;
  readonly spent: number;
  readonly credit: number;
  readonly given: number;
  readonly used: number;
  readonly charged: number;
  readonly used_by_runs: number;
}

/** One statement, so that all of it is of one moment. */
const ledger = `
select reserved_usd::float as reserved, spent_usd::float as spent, credit_usd::float as credit,
  (select coalesce(sum(usd), 0) from reservations where account_id = $1)::float as reservations,
  (select coalesce(sum(usd), 0) from account_credits where account_id = $1)::float as given,
  (select coalesce(sum(cost_usd::numeric), 0) from usage_entries where account_id = $1)::float as used,
  (select coalesce(sum(cost_usd::numeric * price_factor), 0) from usage_entries where account_id = $1)::float as charged,
  (select coalesce(sum(cost_usd::numeric), 0) from runs where account_id = $1)::float as used_by_runs
from account_balances where account_id = $1`;

async function readLedger(accountId: AccountId): Promise<Ledger> {
  const [row] = await fixture.database.sql.query<Ledger>(ledger, [accountId]);
  if (!row) throw new Error('the account has no balance');
  return row;
}

/** What holds at every moment, whatever is under way. */
function expectSound({ reserved, spent, credit, given, used, charged, used_by_runs, ...row }: Ledger): void {
  expect(reserved).toBeCloseTo(row.reservations, 9);
  expect(spent).toBeCloseTo(charged, 9);
  expect(used_by_runs).toBeCloseTo(used, 9);
  expect(credit).toBeCloseTo(given - Math.max(0, charged - tier.usd), 9);
  expect(charged + reserved).toBeLessThanOrEqual(tier.usd + given + 1e-9);
}

const step: fc.Arbitrary<Step> = fc
  .record({
    how: fc.constantFrom('call', 'call', 'continue', 'continue', 'die', 'release', 'sweep', 'credit', 'factor'),
    reserved: fc.integer({ min: 0, max: 60 }),
    share: fc.integer({ min: 0, max: 100 }),
  })
  .map(({ how, reserved, share }) => ({ how, reserved, cost: Math.floor((reserved * share) / 100) }));

const scripts = fc.array(fc.array(step, { minLength: 1, maxLength: 8 }), { minLength: 2, maxLength: 5 });

describe('the ledger of an account with parallel runs', () => {
  it('is never overspent, loses no money and counts none twice, wherever runs are killed (I1) (I3)', async () => {
    await fc.assert(
      fc.asyncProperty(scripts, async (steps) => {
        const accountId = await newAccount(fixture.database);
        await balances.setTier({ accountId, tier });
        const runs = await Promise.all(
          steps.map(async () => new HeldRun(accountId, (await fixture.create({ accountId })).run.id)),
        );

        let isOver = false;
        const watch = async () => {
          while (!isOver) expectSound(await readLedger(accountId));
        };
        const follow = async (run: HeldRun, script: readonly Step[]) => {
          for (const next of script) await run.take(next);
          await run.end();
        };
        const work = Promise.all(runs.map((run, index) => follow(run, steps[index] ?? []))).finally(() => {
          isOver = true;
        });
        await Promise.all([work, watch()]);
        while ((await reservations.releaseAbandoned()) > 0);

        const after = await readLedger(accountId);
        expectSound(after);
        const settled = runs.reduce((sum, { settledCents }) => sum + settledCents, 0);
        const credits = runs.reduce((sum, run) => sum + run.credits, 0);
        expect(after).toMatchObject({ reserved: 0, reservations: 0 });
        expect(after.used).toBeCloseTo(settled / 100, 9);
        expect(after.given).toBeCloseTo((credits * creditCents) / 100, 9);
      }),
      { numRuns: 25 },
    );
  });
});
