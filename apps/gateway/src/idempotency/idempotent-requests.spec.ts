import crypto from 'node:crypto';
import { type AccountId, accountId } from '@rondo/contract';
import { anthropic, secrets } from '@rondo/contract/api';
import type { ApiRequest } from '../auth/api-request';
import { readAttempt } from './repeated-posts';
import { ApiError } from '../problems/api-error';
import { idempotentRequest, requestHash } from './idempotent-requests';
import { KeysInFlight } from './keys-in-flight';

const hash = (account: AccountId) =>
  idempotentRequest(
    {
      ...{ method: 'POST', path: '/v1/secrets', body: {} },
      get: () => 'key',
      caller: { accountId: account },
    } as unknown as ApiRequest,
    secrets.createSecret,
  );

describe('the slow hash of a body that may have a secret', () => {
  const [one, other] = ['acc_1', 'acc_2'].map((id) => accountId.parse(id)) as [AccountId, AccountId];
  const hashes = { now: 0, most: 0 };
  beforeEach(() => {
    jest.spyOn(crypto, 'scrypt').mockImplementation((...given: unknown[]) => {
      hashes.most = Math.max(hashes.most, (hashes.now += 1));
      setImmediate(() => {
        hashes.now -= 1;
        (given.at(-1) as (error: null, hash: Buffer) => void)(null, Buffer.from('hash'));
      });
    });
  });
  afterEach(() => jest.restoreAllMocks());

  it('is made of one request of an account at a time', async () => {
    await Promise.all([hash(one), hash(one), hash(one), hash(other), hash(other)]);

    expect(hashes).toEqual({ now: 0, most: 2 });
  });

  it('is refused while a hundred wait', async () => {
    const waiting = Array.from({ length: 100 }, () => hash(one));

    await expect(hash(one)).rejects.toMatchObject({ code: 'rate_limited' });
    await hash(other);
    await Promise.all(waiting);
    await hash(one);
  });
});

it('another query is another request', () => {
  const toHash = (query: object) => requestHash({ method: 'POST', path: '/x', query, body: {} });

  expect(toHash({ message: 'One.' })).toBe(toHash({ message: 'One.' }));
  expect(toHash({ message: 'Two.' })).not.toBe(toHash({ message: 'One.' }));
});

it('an upload, whose bytes are not known yet, is no repeated attempt of another one', () => {
  const request = { method: 'POST', path: '/anthropic/v1/files', get: () => '1', caller: { accountId: 'acc_1' } };

  expect(readAttempt(request as unknown as ApiRequest, anthropic.uploadAnthropicFile)).toBeUndefined();
  expect(readAttempt(request as unknown as ApiRequest, anthropic.createAnthropicAgent)?.number).toBe(1);
});

it.each([
  ['too_many_active_runs', 1],
  ['balance_exhausted', 1],
  ['too_many_connections', 0],
] as const)('after %s the key of a request that is carried out once is free %i times', async (code, times) => {
  const abandon = jest.fn(() => Promise.resolve());
  const unused = () => Promise.reject(new Error('not asked'));
  const store = { begin: unused, beginAttempt: unused, finish: unused, renew: unused, abandon };
  const keys = new KeysInFlight(store, () => undefined);
  const request = { accountId: accountId.parse('acc_1'), key: 'once', requestHash: 'hash', isOnce: true } as const;

  await keys.fail(request, new ApiError(code, 'Not now.'));
  await keys.close();

  expect(abandon).toHaveBeenCalledTimes(times);
});
