import { io } from 'socket.io-client';
import { nextEvent } from '../testing/next-event';
import { RunningGateway, adminKey } from '../testing/running-gateway';
import { clientAddress } from './client-address';

const gateway = RunningGateway.forSuite({ HANDSHAKES_PER_SECOND: 2, TRUSTED_PROXY_HOPS: 1 });
beforeAll(async () => {
  await gateway.as().get('/v1/runs').expect(200);
});

const from = (address: string) => ({ 'X-Forwarded-For': `6.6.6.6, ${address}` });

describe('attack: public API', () => {
  it('guesses of keys, one after another', async () => {
    const verify = jest.spyOn(gateway.parts.accounts, 'verify');
    const guess = async (n: number) =>
      (await gateway.as(`rondo_guess_${n}`).get('/v1/runs').set(from('192.0.2.1'))).status;
    const statuses = [];
    for (let n = 0; n < 30; n += 1) statuses.push(await guess(n));

    expect(statuses.slice(0, 4)).toEqual([401, 401, 401, 401]);
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(10);
    expect(verify.mock.calls.length).toBe(statuses.filter((status) => status === 401).length);
    await gateway.as().get('/v1/runs').set(from('192.0.2.1')).expect(200);
    await gateway.as('rondo_other').get('/v1/runs').set(from('192.0.2.2')).expect(401);
    verify.mockRestore();
  });

  it('guesses of keys at the address of clients with valid ones', async () => {
    const at = from('192.0.2.5');
    const keys = await Promise.all(Array.from({ length: 10 }, (_, index) => gateway.toKey(`neighbour ${index}`)));
    for (const key of keys) await gateway.as(key).get('/v1/runs').set(at).expect(200);
    let status = 401;
    for (let n = 0; status === 401; n += 1)
      ({ status } = await gateway.as(`rondo_another_guess_${n}`).get('/v1/runs').set(at));
    expect(status).toBe(429);

    gateway.parts.keys.clear();
    for (const key of keys) await gateway.as(key).get('/v1/runs').set(at).expect(200);
    const socket = io(`${gateway.url}/runs`, { auth: { token: keys[0] }, extraHeaders: at, transports: ['websocket'] });
    await nextEvent(socket, 'connect');
    socket.disconnect();
  });

  it('handshakes of sockets, one after another', async () => {
    const answers = await Promise.all(
      Array.from({ length: 12 }, async () => {
        const socket = io(`${gateway.url}/runs`, {
          auth: { token: adminKey },
          extraHeaders: from('192.0.2.3'),
          transports: ['websocket'],
          forceNew: true,
          reconnection: false,
        });
        const answer = await Promise.race([
          nextEvent(socket, 'connect').then(() => 'connected'),
          nextEvent(socket, 'connect_error').then(([error]) => error),
        ]);
        socket.disconnect();
        return answer;
      }),
    );

    expect(answers).toContain('connected');
    expect(answers.filter((answer) => answer === 'connected').length).toBeLessThan(12);
    expect(answers.filter((answer) => answer !== 'connected').length).toBeGreaterThan(5);
  });

  it('connections that show no key', async () => {
    const open = () => fetch(`${gateway.url}/socket.io/?EIO=4&transport=polling`, { headers: from('192.0.2.4') });
    const answers = await Promise.all(Array.from({ length: 8 }, open));

    expect(answers.filter(({ ok }) => ok)).toHaveLength(4);
    const refused = answers.find(({ ok }) => !ok);
    expect([refused?.status, await refused?.json()]).toEqual([403, { code: 4, message: 'too_many_connections' }]);
  });
});

describe('the address of a client', () => {
  const asker = (remoteAddress: string, forwarded?: string) => ({
    headers: { ...(forwarded !== undefined && { 'x-forwarded-for': forwarded }) },
    socket: { remoteAddress },
  });

  it.each([
    [0, '10.0.0.1', '1.1.1.1', '10.0.0.1'],
    [1, '10.0.0.1', '6.6.6.6, 1.1.1.1', '1.1.1.1'],
    [2, '10.0.0.1', '6.6.6.6, 1.1.1.1, 10.0.0.2', '1.1.1.1'],
    [1, '::ffff:10.0.0.1', undefined, '10.0.0.1'],
    [0, '2001:db8:1:2:3:4:5:6', undefined, '2001:db8:1:2::/64'],
    [0, '2001:DB8:1::6', undefined, '2001:db8:1:0::/64'],
    [0, 'fe80::1%eth0', undefined, 'fe80:0:0:0::/64'],
    [1, '10.0.0.1', 'nonsense', 'nonsense'],
  ])('behind %i proxies, %s with %s, is %s', (hops, remote, forwarded, address) => {
    expect(clientAddress(asker(remote, forwarded), hops)).toBe(address);
  });
});
