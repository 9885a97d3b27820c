import { accountId } from '@rondo/contract';
import { RunningGateway } from '../testing/running-gateway';
import { AccountQuota } from './account-quota';

const perSecond = 10;
const gateway = RunningGateway.forSuite({ ACCOUNT_RATE_LIMIT_PER_SECOND: perSecond });
let other: RunningGateway;
beforeAll(async () => {
  const { DATABASE_URL } = gateway.parts.config;
  other = await RunningGateway.start({ ACCOUNT_RATE_LIMIT_PER_SECOND: perSecond, DATABASE_URL });
  await Promise.all([gateway, other].map(({ parts }) => parts.accountRequests.ping()));
});
afterAll(async () => {
  await other.close();
});

/** An account with many keys. */
async function accountWithKeys(name: string, count: number): Promise<string[]> {
  const { account } = await gateway.parts.accounts.create({ name, scopes: ['read'] });
  const wish = { accountId: account.id, name: 'one of many', scopes: ['write'] };
  const keys = Array.from({ length: count }, () => gateway.parts.accounts.createKey(wish));
  return (await Promise.all(keys)).map(({ key }) => key);
}

interface Refused {
  readonly code: string;
  readonly headers: Headers;
}

/** Sends requests with all keys in turn until one is refused. */
async function untilRefused(at: RunningGateway, keys: readonly string[]): Promise<Refused> {
  for (let rounds = 0; rounds < 50; rounds += 1) {
    const answers = await Promise.all(
      keys.map((key) => fetch(`${at.url}/v1/runs`, { headers: { authorization: `Bearer ${key}` } })),
    );
    const refused = answers.find(({ status }) => status === 429);
    if (refused) return { code: ((await refused.json()) as Refused).code, headers: refused.headers };
  }
  throw new Error('no request was refused');
}

describe('attack: tenants', () => {
  it('an account that spreads its requests over many keys', async () => {
    const { code, headers } = await untilRefused(gateway, await accountWithKeys('spread', 10));

    expect(code).toBe('rate_limited');
    expect(headers.get('retry-after')).toBe('1');
    expect(headers.get('ratelimit')).toBe('"account";r=0;t=1');
    expect(headers.get('ratelimit-policy')).toMatch(/^"account";q=\d+;w=[12]$/);
    const stranger = await gateway.toKey('quiet');
    await gateway.as(stranger).get('/v1/runs').expect(200);
  });

  it('an account that has used up its rate on another gateway', async () => {
    const [key = ''] = await accountWithKeys('elsewhere', 1);
    const accountId = (await other.parts.keys.findCaller(key))?.accountId ?? '';
    let answer = await gateway.as(key).get('/v1/runs').expect(200);
    for (let tries = 0; tries < 8 && answer.status === 200; tries += 1) {
      await other.parts.accountRequests.spend(accountId, 10 * perSecond);
      await gateway.as(key).get('/v1/runs');
      await new Promise((resolve) => setTimeout(resolve, 100)); // until it is reported
      answer = await gateway.as(key).get('/v1/runs');
    }
    expect(answer.status).toBe(429);
    expect(answer.headers['ratelimit-policy']).toBe(`"account";q=${perSecond};w=1`);
  });
});

describe('the quota of an account', () => {
  it('is told to the other gateways in few messages, and soon once a twentieth of it is used', async () => {
    jest.useFakeTimers();
    try {
      const spent: number[] = [];
      const spend = (_: string, amount: number) => Promise.resolve(spent.push(amount) && 0);
      const quota = new AccountQuota({ spend }, { perSecond: 100, onError: () => undefined });
      const consume = (times: number) => {
        for (let time = 0; time < times; time += 1) quota.consume(accountId.parse('acc_1'));
      };

      consume(1);
      await jest.advanceTimersByTimeAsync(150);
      consume(3);
      await jest.advanceTimersByTimeAsync(50);
      expect(spent).toEqual([4]);

      consume(1);
      await jest.advanceTimersByTimeAsync(20);
      consume(4);
      await jest.advanceTimersByTimeAsync(20);
      expect(spent).toEqual([4, 5]);
    } finally {
      jest.useRealTimers();
    }
  });

  it('is enforced per gateway while Redis is away (I1)', async () => {
    const { DATABASE_URL } = gateway.parts.config;
    const alone = await RunningGateway.start({
      ACCOUNT_RATE_LIMIT_PER_SECOND: perSecond,
      DATABASE_URL,
      REDIS_URL: 'redis://127.0.0.1:1',
    });
    try {
      expect((await untilRefused(alone, await accountWithKeys('alone', 10))).code).toBe('rate_limited');
    } finally {
      await alone.close();
    }
  });
});
