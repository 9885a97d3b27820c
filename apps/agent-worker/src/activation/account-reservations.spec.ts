import { type AccountId, accountId } from '@rondo/contract';
import { type CallSize, type ClaimedRun, readTiers } from '@rondo/domain';
import type { ReservationOrder, ReservationVerdict } from '@rondo/persistence';
import { AccountReservations, continuationWaitMs, keptMs } from './account-reservations';

const tiers = readTiers(
  '{"default":"free","tiers":{"free":{"usd":1,"allowed_models":["demo/*"]},"internal":{},"dear":{"usd":1,"price_factor":1.5}}}',
);
const account = accountId.parse('acc_1');
const claim = { accountId: account } as ClaimedRun; // nothing else is read here
const size: CallSize = { model: 'demo/plain', inputTokens: 10, maxOutputTokens: undefined, unsettledUsd: 0 };

/** Postgres, as far as it is asked here, and in which order. */
function reservationsWith(
  verdicts: readonly ReservationVerdict[],
  {
    tier = null as string | null,
    cost = 0.5,
    priceFactor = null as number | null,
    unsettledUsd = 0,
    passesMs = 0,
  } = {},
) {
  if (!tiers) throw new Error('the tiers are valid');
  const asked: string[] = [];
  const clock = { ms: 0 };
  const left = [...verdicts];
  const reservations = new AccountReservations({
    tiers,
    reservations: {
      toTerms: (id: AccountId) => {
        asked.push(`tier of ${id}`);
        return Promise.resolve({ tier, priceFactor });
      },
      reserve: ({ usd }: ReservationOrder) => {
        asked.push(`reserve ${usd}`);
        clock.ms += passesMs;
        return Promise.resolve(left.shift() ?? 'granted');
      },
      count: () => {
        asked.push('count');
        return Promise.resolve();
      },
    },
    computeCost: () => (Number.isNaN(cost) ? undefined : cost),
    nowMs: () => clock.ms,
  });
  const journal = {
    commit: () => {
      asked.push('commit');
      return Promise.resolve();
    },
  };
  const abandon = new AbortController();
  const reserve = reservations.of(claim, { journal, abandon: abandon.signal });
  return {
    asked,
    clock,
    abandon,
    reserve: (stop = new AbortController().signal, model = size.model) =>
      reserve(model, () => Promise.resolve({ ...size, unsettledUsd }), stop),
  };
}

describe('a reservation', () => {
  it('is made once the calls before it are settled', async () => {
    const { reserve, asked } = reservationsWith(['granted']);

    expect(await reserve()).toBe(true);
    expect(asked).toEqual(['tier of acc_1', 'commit', 'reserve 0.5']);
  });

  it('is of what the account is charged: by the factor of its tier, or its own', async () => {
    const [byTier, own] = [
      reservationsWith(['granted'], { tier: 'dear' }),
      reservationsWith(['granted'], { tier: 'dear', priceFactor: 3 }),
    ];

    await Promise.all([byTier.reserve(), own.reserve()]);

    expect([byTier.asked.at(-1), own.asked.at(-1)]).toEqual(['reserve 0.75', 'reserve 1.5']);
  });

  it('costs an account without a limit one read in a while', async () => {
    const { reserve, asked, clock } = reservationsWith([], { tier: 'internal' });

    for (let call = 0; call < 10; call += 1) expect(await reserve()).toBe(true);
    expect(asked).toEqual(['tier of acc_1']);
    clock.ms = keptMs;
    await reserve();
    expect(asked).toEqual(['tier of acc_1', 'tier of acc_1']);
  });

  it('waits while other runs hold what it needs, and counts a balance that was not counted', async () => {
    const { reserve, asked } = reservationsWith(['uncounted', 'held', 'held', 'granted']);

    expect(await reserve()).toBe(true);
    expect(asked.slice(2)).toEqual(['reserve 0.5', 'count', 'reserve 0.5', 'reserve 0.5', 'reserve 0.5']);
  });

  it('of a continued reply, whose cost stays reserved, is not waited for without end', async () => {
    const always = Array<ReservationVerdict>(9).fill('held');
    const { reserve, asked } = reservationsWith(always, { unsettledUsd: 0.1, passesMs: continuationWaitMs });

    expect(await reserve()).toBe(false);
    expect(asked.slice(2)).toEqual(['reserve 0.5', 'reserve 0.5']);
  });

  it('is refused where the balance does not cover the call, or its price is not known', async () => {
    expect(await reservationsWith(['lacking']).reserve()).toBe(false);
    expect(await reservationsWith([], { cost: Number.NaN }).reserve()).toBe(false);
  });

  it('fails the run of a model that the tier does not have', async () => {
    const { reserve, asked } = reservationsWith([]);

    await expect(reserve(undefined, 'openai/gpt-5')).rejects.toMatchObject({ code: 'model_not_allowed' });
    expect(asked).toEqual(['tier of acc_1']);
  });

  it('is not waited for after a stop, or when the run is let go of', async () => {
    const always = Array<ReservationVerdict>(1_000).fill('held');
    const stopped = reservationsWith(always);
    const stop = new AbortController();
    const waiting = stopped.reserve(stop.signal);
    stop.abort();
    expect(await waiting).toBe(true);

    const { reserve, abandon } = reservationsWith(always);
    const abandoned = reserve();
    abandon.abort();
    expect(await abandoned).toBe(true);
  });
});
