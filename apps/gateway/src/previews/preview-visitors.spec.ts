import { PassThrough } from 'node:stream';
import type { PreviewAddress } from '@rondo/messaging';
import { ApiError } from '../problems/api-error';
import { tooManyRequests } from '../auth/rate-limiter';
import { PreviewVisitors } from './preview-visitors';

const toAddress = (token: string): PreviewAddress => ({ threadId: 'thr_1', port: 3000, token });
const there = toAddress('there');

/** Visitors of one preview, and what they cost: look-ups in the database, requests to the executor. */
function createVisitors({ guesses = 3, requestsPerSecond = 10 } = {}) {
  const cost = { lookUps: 0, requests: 0 };
  let left = guesses;
  const visitors = new PreviewVisitors({
    requestsPerSecond,
    sandboxes: {
      hosting: () => {
        cost.lookUps += 1;
        return Promise.resolve({ threadId: 'thr_1', executorId: 'exe_1', accountId: 'acc_1' } as never);
      },
    },
    authenticator: {
      readAddress: ({ socket }) => socket.remoteAddress ?? '',
      countHandshake: () => {
        if (left === 0) throw tooManyRequests({ policy: 'address', quota: guesses, windowS: 2, waitS: 1 });
        left -= 1;
      },
    },
    connect: (_, { token }) => {
      cost.requests += 1;
      if (token !== there.token) return Promise.reject(new ApiError('preview_not_found', 'There is no such preview.'));
      return Promise.resolve(new PassThrough());
    },
  });
  return { visitors, cost };
}

const from = (remoteAddress: string, signal = AbortSignal.abort()) => ({
  origin: { headers: {}, socket: { remoteAddress } },
  signal,
});
const readCode = (asked: Promise<unknown>): Promise<string> =>
  asked.then(
    () => 'connected',
    (error: unknown) => (error instanceof ApiError ? error.code : String(error)),
  );

describe('attack: previews', () => {
  it('that are guessed cost a query each only until the rate of the address is used up', async () => {
    const { visitors, cost } = createVisitors();
    const codes = [];
    for (let n = 0; n < 50; n += 1) codes.push(await readCode(visitors.connect(toAddress(`${n}`), from('192.0.2.1'))));
    expect(codes.slice(0, 4)).toEqual([...Array<string>(3).fill('preview_not_found'), 'rate_limited']);
    expect(cost).toEqual({ lookUps: 3, requests: 3 });
  });

  it('that are known are asked no faster than their own rate, which guesses do not use up', async () => {
    const { visitors, cost } = createVisitors({ guesses: 2 });
    expect(await readCode(visitors.connect(there, from('192.0.2.1')))).toBe('connected');
    expect(await readCode(visitors.connect(toAddress('x'), from('192.0.2.1')))).toBe('preview_not_found');
    expect(await readCode(visitors.connect(toAddress('x'), from('192.0.2.1')))).toBe('rate_limited');

    const codes = [];
    for (let n = 0; n < 40; n += 1) codes.push(await readCode(visitors.connect(there, from('192.0.2.2'))));
    expect(codes.slice(0, 20)).toEqual(Array(20).fill('connected'));
    expect(codes.at(-1)).toBe('rate_limited');
    expect(cost.lookUps).toBe(2);
  });

  it('that one address holds open are limited, and free again once it has left', async () => {
    const { visitors } = createVisitors({ guesses: 100, requestsPerSecond: 1_000 });
    const clients = Array.from({ length: 60 }, () => new AbortController());
    const codes = [];
    for (const { signal } of clients) codes.push(await readCode(visitors.connect(there, from('192.0.2.1', signal))));
    expect(codes.filter((code) => code === 'connected')).toHaveLength(48);
    expect(codes.at(-1)).toBe('too_many_connections');
    expect(await readCode(visitors.connect(there, from('192.0.2.2')))).toBe('connected');

    clients[0]?.abort();
    expect(await readCode(visitors.connect(there, from('192.0.2.1')))).toBe('connected');
  });
});
