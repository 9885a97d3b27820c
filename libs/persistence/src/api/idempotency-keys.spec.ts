import type { Run } from '@rondo/contract';
import { IdempotencyKeys, type PendingKey } from './idempotency-keys';
import { StoreFixture, nextId, newAccount, textInput, started, waits } from '../testing/store-fixture';

let fixture: StoreFixture;
let keys: IdempotencyKeys;
beforeAll(async () => {
  fixture = await StoreFixture.open();
  keys = new IdempotencyKeys(fixture.database);
});
afterAll(() => fixture.close());

const request = (requestHash = 'hash-1') => ({ accountId: fixture.accountId, key: `key-${nextId()}`, requestHash });
const response = { status: 202, body: { id: 'run_1', nothing: null }, location: '/v1/runs/run_1' };
const age = ({ key }: { key: string }, interval: string) =>
  fixture.database.sql.query(`update idempotency_keys set created_at = created_at - $2::interval where key = $1`, [
    key,
    interval,
  ]);

describe('IdempotencyKeys', () => {
  it('lets one of many equal requests through', async () => {
    const first = request();

    const verdicts = await Promise.all(Array.from({ length: 20 }, () => keys.begin(first)));

    expect(verdicts.filter(({ verdict }) => verdict === 'fresh')).toHaveLength(1);
    expect(verdicts.filter(({ verdict }) => verdict === 'in_flight')).toHaveLength(19);
  });

  it('repeats the first answer, and refuses another body under the same key', async () => {
    const first = request();
    await keys.begin(first);
    await keys.finish(first, response);

    expect(await keys.begin(first)).toEqual({ verdict: 'replay', response });
    expect(await keys.begin({ ...first, requestHash: 'hash-2' })).toEqual({ verdict: 'reused' });
  });

  it('refuses another body also while the first is in flight', async () => {
    const first = request();
    await keys.begin(first);

    expect(await keys.begin({ ...first, requestHash: 'hash-2' })).toEqual({ verdict: 'reused' });
  });

  it('lets an abandoned request be made again, and forgets no answer', async () => {
    const first = request();
    await keys.begin(first);
    await keys.abandon(first);
    expect(await keys.begin(first)).toEqual({ verdict: 'fresh' });

    await keys.finish(first, response);
    await keys.abandon(first);
    expect(await keys.begin(first)).toMatchObject({ verdict: 'replay' });
  });

  it('takes over from a gateway that died in the middle, after ten seconds', async () => {
    const first = request();
    await keys.begin(first);
    await age(first, '9 s');
    expect(await keys.begin(first)).toEqual({ verdict: 'in_flight' });

    await age(first, '2 s');
    expect(await keys.begin(first)).toEqual({ verdict: 'fresh' });
    expect(await keys.begin(first)).toEqual({ verdict: 'in_flight' });
  });

  it('keeps a request that is renewed, and never repeats one that is to be done once', async () => {
    const [slow, once] = [request(), { ...request(), isOnce: true as const }];
    for (const one of [slow, once]) {
      await keys.begin(one);
      await age(one, '11 s');
    }
    await keys.renew([slow]);

    expect(await keys.begin(slow)).toEqual({ verdict: 'in_flight' });
    expect(await keys.begin(once)).toEqual({ verdict: 'unknown' });
    await age(once, '24 h');
    expect(await keys.begin(once)).toEqual({ verdict: 'fresh' });
  });

  describe('of a request that makes something', () => {
    const promising = (one = request()): PendingKey<{ id: string }> => ({
      request: one,
      answer: ({ id }) => ({ status: 202, body: { id }, location: `/made/${id}` }),
    });
    const createReplay = ({ id }: { id: string }) => ({
      verdict: 'replay',
      response: { status: 202, body: { id }, location: `/made/${id}` },
    });

    it('knows the answer as soon as the thing is there, though its gateway died at once', async () => {
      const { accountId, threads, messages, runs } = fixture;
      const { threadId } = await fixture.claimed();
      const asking = await waitingRun();
      const makers: ((promised: PendingKey<{ id: string }>) => Promise<{ id: string }>)[] = [
        async (promised) => (await fixture.create({ promised })).run,
        (promised) => threads.create({ accountId, metadata: {}, promised }),
        (promised) => messages.add({ accountId, threadId, content: textInput('Hello.'), promised }),
        async (promised) =>
          (await runs.answer({ accountId, runId: asking.runId, content: textInput('Blue.'), promised })).run,
      ];

      for (const make of makers) {
        const promised = promising();
        await keys.begin(promised.request);
        const made = await make(promised);
        await age(promised.request, '61 s');

        expect(await keys.begin(promised.request)).toEqual(createReplay(made));
      }
    });

    it('makes one run when a slow gateway and its successor both go on', async () => {
      const promised: PendingKey<Run> = promising();
      await keys.begin(promised.request);
      await age(promised.request, '61 s');
      expect(await keys.begin(promised.request)).toEqual({ verdict: 'fresh' });

      const outcomes = await Promise.allSettled([fixture.create({ promised }), fixture.create({ promised })]);

      const made = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value.run] : []));
      const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []));
      expect(made).toHaveLength(1);
      expect(refused).toMatchObject([{ code: 'idempotency_in_flight' }]);
      expect(await keys.begin(promised.request)).toEqual(createReplay(made[0] ?? { id: '' }));
    });

    async function waitingRun() {
      const claim = await fixture.claimed();
      await fixture.store.append(claim, [started, waits]);
      return claim;
    }
  });

  it('forgets after 24 hours', async () => {
    const [first, second] = [request(), request()];
    for (const one of [first, second]) {
      await keys.begin(one);
      await keys.finish(one, response);
      await age(one, '24 h');
    }

    expect(await keys.begin({ ...first, requestHash: 'hash-2' })).toEqual({ verdict: 'fresh' });
    expect(await keys.prune()).toBe(1);
  });

  it('forgets some at a time, and none that counts (I11)', async () => {
    const young = request();
    await keys.begin(young);
    const old = `insert into idempotency_keys (account_id, key, request_hash, created_at)
      select $1, 'old-' || n, '', clock_timestamp() - interval '25 h' from generate_series(1, 5001) as n`;
    await fixture.database.sql.query(old, [young.accountId]);

    expect([await keys.prune(), await keys.prune(), await keys.prune()]).toEqual([5_000, 1, 0]);
    expect(await keys.begin(young)).toEqual({ verdict: 'in_flight' });
  });

  it('keeps accounts apart', async () => {
    const first = request();
    await keys.begin(first);

    expect(await keys.begin({ ...first, accountId: await newAccount(fixture.database) })).toEqual({ verdict: 'fresh' });
  });
});

describe('attempts of a client that sends no key', () => {
  const post = () => ({ accountId: fixture.accountId, requestHash: `hash-${nextId()}` });
  const begin = (of: ReturnType<typeof post>, attempt: number) => keys.beginAttempt(of, { attempt, id: nextId() });
  const answered = async (of: ReturnType<typeof post>, attempt: number, body: unknown) => {
    const begun = await begin(of, attempt);
    if (begun.verdict === 'fresh') await keys.finish(begun.request, { ...response, body });
    return begun.verdict;
  };

  it('get the answer to the one before, each once', async () => {
    const of = post();
    expect([await answered(of, 0, 'one'), await answered(of, 0, 'two')]).toEqual(['fresh', 'fresh']);
    expect(await begin(of, 1)).toMatchObject({ verdict: 'replay', response: { body: 'two' } });
    expect(await begin(of, 2)).toMatchObject({ verdict: 'replay', response: { body: 'two' } });
    expect(await begin(of, 1)).toMatchObject({ verdict: 'replay', response: { body: 'one' } });
    expect(await begin(of, 1)).toMatchObject({ verdict: 'fresh' });
  });

  it('wait for the one before, unless that has been silent for long', async () => {
    const of = post();
    const first = await begin(of, 0);
    expect(await begin(of, 1)).toEqual({ verdict: 'in_flight' });
    if (first.verdict === 'fresh') await age(first.request, '11 s');
    expect(await begin(of, 2)).toMatchObject({ verdict: 'fresh' });
  });

  it('are carried out when the one before never arrived, was another request, or came long ago', async () => {
    const of = post();
    expect(await answered(post(), 0, 'other')).toBe('fresh');
    expect(await answered(of, 1, 'first to arrive')).toBe('fresh');
    await fixture.database.sql.query(
      `update idempotency_keys set created_at = created_at - interval '3 minutes' where request_hash = $1`,
      [of.requestHash],
    );
    expect(await answered(of, 2, 'again')).toBe('fresh');
  });
});
